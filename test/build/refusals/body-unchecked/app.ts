import { Body, Controller, Module, Post } from '@stack/backend'

interface CreateOrder {
  item: string
}

@Controller('/orders')
export class OrdersController {
  @Post()
  create(@Body() order: CreateOrder): string {
    return order.item
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
