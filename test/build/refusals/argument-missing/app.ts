import { Controller, Get, Module, Query } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Get()
  list(@Query() page: string | undefined): string {
    return `page ${page ?? 1}`
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
