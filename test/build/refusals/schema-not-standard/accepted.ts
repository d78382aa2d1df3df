import { Body, Controller, Module, Post } from '@stack/backend'
import type { StandardSchema } from '@stack/backend'

interface CreateOrder {
  item: string
}

const createOrder: StandardSchema<unknown, CreateOrder> = {
  '~standard': {
    version: 1,
    vendor: 'example',
    validate: (value) => ({ value: value as CreateOrder }),
  },
}

@Controller('/orders')
export class OrdersController {
  @Post()
  create(@Body(createOrder) order: CreateOrder): string {
    return order.item
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
