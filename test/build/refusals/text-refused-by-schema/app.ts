import { Controller, Get, Module, Query } from '@stack/backend'

const page = {
  '~standard': {
    version: 1 as const,
    vendor: 'example',
    validate: (value: unknown) =>
      typeof value === 'number' ? { value } : { issues: [{ message: 'is no number' }] },
  },
}

@Controller('/orders')
export class OrdersController {
  @Get()
  list(@Query('page', page) page: number): number[] {
    return [page]
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
