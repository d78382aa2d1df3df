import { Body, Controller, Module, Post } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Post('', { status: '201' })
  place(@Body() order: unknown) {
    return order
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
