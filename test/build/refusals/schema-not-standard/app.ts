import { Body, Controller, Module, Post } from '@stack/backend'

export class CreateOrderDto {
  item!: string
}

@Controller('/orders')
export class OrdersController {
  @Post()
  create(@Body(CreateOrderDto) order: CreateOrderDto): string {
    return order.item
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
