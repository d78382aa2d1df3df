import { Body, Controller, Database, Module, Post } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Post()
  place(@Body() order: { sku: string }, @Body() address: { city: string }) {
    return Database.sql`insert into orders (sku, city) values (${order.sku}, ${address.city})`
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
