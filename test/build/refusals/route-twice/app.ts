import { Controller, Database, Get, Module } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Get()
  list() {
    return Database.sql`select * from orders`
  }
}

@Controller()
export class ShopController {
  @Get('/orders')
  orders() {
    return Database.sql`select id from orders`
  }
}

@Module({ controllers: [OrdersController, ShopController] })
export class AppModule {}
