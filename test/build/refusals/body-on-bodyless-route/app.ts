import { Body, Controller, Database, Get, Module } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Get('search')
  search(@Body() filter: { sku: string }) {
    return Database.sql`select * from orders where sku = ${filter.sku}`
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
