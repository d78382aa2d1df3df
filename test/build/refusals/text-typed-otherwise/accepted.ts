import { Controller, Get, Module, Param } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Get(':id')
  show(@Param('id') id: string): number {
    return Number(id) + 1
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
