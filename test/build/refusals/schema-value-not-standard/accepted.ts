import { Body, Controller, Module, Post } from '@stack/backend'
import { newOrder } from './new-order'

@Controller('/orders')
export class OrdersController {
  @Post()
  create(@Body(newOrder()) order: { item: string }): string {
    return order.item
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
// file: src/new-order.ts
export const newOrder = () => ({
  '~standard': {
    version: 1 as const,
    vendor: 'example',
    validate: (value: unknown) => ({ value: value as { item: string } }),
  },
})
