import { Controller, Get, Module } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Get('', { auth: false })
  list(): string[] {
    return []
  }

  @Get('all', { auth: { role: 'staff' } })
  list(): string[] {
    return ['everybody’s']
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
