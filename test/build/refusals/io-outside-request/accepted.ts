import { Controller, Get, Module } from '@stack/backend'
import { Pool } from 'pg'

@Controller('/orders')
export class OrdersController {
  @Get()
  list(): string {
    const socket = new WebSocket('wss://example.com')
    return `${new Pool()} ${socket.url}`
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
// file: node_modules/pg/package.json
{ "name": "pg", "main": "index.js" }
// file: node_modules/pg/index.js
export class Pool {}
