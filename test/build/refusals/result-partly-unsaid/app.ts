import { Controller, Get, Module } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Get('total')
  total(): { cents: bigint } {
    return { cents: 1_000n }
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
