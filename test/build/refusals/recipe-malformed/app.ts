import { Controller, Get, Module } from '@stack/backend'

export abstract class Orders {
  abstract all(): string[]
}

const orders = { all: () => ['tea'] }

@Controller('/orders')
export class OrdersController {
  constructor(private readonly orders: Orders) {}

  @Get()
  list(): string[] {
    return this.orders.all()
  }
}

@Module({ controllers: [OrdersController], providers: [{ provide: Orders, useValue: orders }] })
export class AppModule {}
