import { Controller, Get, Module } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Get('total')
  total(): { cents: string } {
    return { cents: '1000' }
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
