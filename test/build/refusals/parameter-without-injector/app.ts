import { Controller, Database, Get, Module } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Get(':id')
  show(id: string) {
    return Database.sql`select * from orders where id = ${id}`
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
