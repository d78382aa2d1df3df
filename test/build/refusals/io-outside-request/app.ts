import { Controller, Get, Module } from '@stack/backend'
import { Pool } from 'pg'

const pool = new Pool()

@Controller('/orders')
export class OrdersController {
  private readonly socket = new WebSocket('wss://example.com')

  @Get()
  list(): string {
    return `${pool} ${this.socket.url}`
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
// file: node_modules/pg/package.json
{ "name": "pg", "main": "index.js" }
// file: node_modules/pg/index.js
export class Pool {}
