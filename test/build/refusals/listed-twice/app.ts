import { Controller, Get, Injectable, Module } from '@stack/backend'

@Injectable()
export class Orders {
  all(): string[] {
    return []
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

@Module({
  controllers: [OrdersController],
  providers: [Orders, Orders],
})
export class AppModule {}
