import { Controller, Get, Module, Param } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Get(':id')
  show(@Param('id') id: number): number {
    return id + 1
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
