import { Body, Controller, Database, Module, Post } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Post('search')
  search(@Body() filter: unknown) {
    return Database.sql`select * from orders where sku = ${String(filter)}`
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
