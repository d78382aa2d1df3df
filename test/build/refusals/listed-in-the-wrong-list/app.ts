import { Controller, Database, Get, Module } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Get()
  list() {
    return Database.sql`select * from orders`
  }
}

@Module({ providers: [OrdersController] })
export class AppModule {}
