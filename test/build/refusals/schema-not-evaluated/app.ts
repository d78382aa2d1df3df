import { Body, Controller, Module, Post } from '@stack/backend'

const address = new URL(process.env.SHOP_URL!)

const newOrder = {
  '~standard': {
    version: 1 as const,
    vendor: 'example',
    validate: (value: unknown) => ({ value: value as { item: string } }),
  },
}

@Controller('/orders')
export class OrdersController {
  @Post()
  create(@Body(newOrder) order: { item: string }): string {
    return `${address}/${order.item}`
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
