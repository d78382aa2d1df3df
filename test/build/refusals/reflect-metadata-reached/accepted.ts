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
// file: node_modules/reflect-metadata/package.json
{ "name": "reflect-metadata", "main": "index.js" }
// file: node_modules/reflect-metadata/index.js
globalThis.Reflect.metadata = () => () => {}
