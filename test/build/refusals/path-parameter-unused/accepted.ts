import { Controller, Get, Module, Param } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Get(':id')
  show(@Param('id') id: string): string {
    return id
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
