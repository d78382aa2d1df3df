import { Controller, Database, Get } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Get()
  list() {
    return Database.sql`select * from orders`
  }
}

export class AppModule {}
