import { Controller, Database, Get, Module } from '@stack/backend'

export class Orders {
  list() {
    return Database.sql`select * from orders`
  }
}

@Controller('/orders')
export class OrdersController {
  constructor(private readonly orders: Orders) {}

  @Get()
  list() {
    return this.orders.list()
  }
}

@Module({ controllers: [OrdersController], providers: [Orders] })
export class AppModule {}
