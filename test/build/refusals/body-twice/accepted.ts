import { Body, Controller, Database, Module, Post } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Post()
  place(@Body() order: unknown) {
    return Database.sql`insert into orders (sku, city) values (${String(order)}, ${String(order)})`
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
