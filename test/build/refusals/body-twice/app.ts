import { Body, Controller, Database, Module, Post } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Post()
  place(@Body() order: unknown, @Body() address: unknown) {
    return Database.sql`insert into orders (sku, city) values (${String(order)}, ${String(address)})`
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
