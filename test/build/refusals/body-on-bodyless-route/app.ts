import { Body, Controller, Database, Get, Module } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Get('search')
  search(@Body() filter: unknown) {
    return Database.sql`select * from orders where sku = ${String(filter)}`
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
