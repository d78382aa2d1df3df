import { Controller, Get, Module } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Get()
  list(): string[] {
    return []
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
// file: tsconfig.json
{
  "compilerOptions": {
    "strict": true
  }
}
