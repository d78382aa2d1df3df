import { Body, Controller, Database, Module, Post } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Post('search')
  search(@Body() filter: { sku: string }) {
    return Database.sql`select * from orders where sku = ${filter.sku}`
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
