import { Controller, Get, Injectable, Module } from '@stack/backend'

export abstract class Orders {
  abstract all(): string[]
}

@Injectable()
export class PgOrders extends Orders {
  all(): string[] {
    return ['tea']
  }
}

@Controller('/orders')
export class OrdersController {
  constructor(private readonly orders: Orders) {}

  @Get()
  list(): string[] {
    return this.orders.all()
  }
}

@Module({ controllers: [OrdersController], providers: [{ provide: Orders, useClass: PgOrders }] })
export class AppModule {}
