import { Controller, Get, Module } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Get(':id')
  show(): string {
    return 'an order'
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
