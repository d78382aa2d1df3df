import { Body, Controller, Module, Post, Secrets } from '@stack/backend'

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
    return `${Secrets.get('SHOP_URL')}/${order.item}`
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
