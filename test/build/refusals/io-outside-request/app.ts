import { Controller, Get, Module } from '@stack/backend'
import { Pool } from 'pg'
import { started } from './started.ts'

const pool = new Pool()

@Controller('/orders')
export class OrdersController {
  private readonly socket = new WebSocket('wss://example.com')

  @Get()
  list(): string {
    return `${started} ${pool} ${this.socket.url}`
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
// file: src/started.ts
export const started = crypto.randomUUID()
// file: node_modules/pg/package.json
{ "name": "pg", "main": "index.js" }
// file: node_modules/pg/index.js
export class Pool {}
