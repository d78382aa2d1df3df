import { Controller, Get, Module } from '@stack/backend'
import { Orders } from './order'

@Controller('/orders')
export class OrdersController {
  constructor(private readonly orders: Orders) {}

  @Get()
  list(): string[] {
    return this.orders.all()
  }
}

@Module({ controllers: [OrdersController], providers: [Orders] })
export class AppModule {}
// file: src/orders.ts
export class Orders {
  all(): string[] {
    return []
  }
}
