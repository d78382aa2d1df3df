import { Controller, Database, Get, Module } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Get()
  async list() {
    const orders = await Database.sql`select * from orders`
    return { orders count: orders.length }
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
