import { Body, Controller, HttpError, Module, Post } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Post()
  create(@Body() order: unknown): string {
    if (typeof order !== 'string') throw new HttpError(400, 'invalid_request', 'an order is text')
    return order
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
