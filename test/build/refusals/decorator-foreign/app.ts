import { Controller, Module } from '@stack/backend'
import { Get } from './nest'

@Controller('/orders')
export class OrdersController {
  @Get()
  list(): string[] {
    return []
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
// file: src/nest.ts
export { Get } from '@nestjs/common'
// file: node_modules/@nestjs/common/package.json
{ "name": "@nestjs/common", "main": "index.js" }
// file: node_modules/@nestjs/common/index.js
export const Get = () => () => {}
