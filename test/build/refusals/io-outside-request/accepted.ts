import { Controller, Get, Module } from '@stack/backend'
import { Pool } from 'pg'
import { started } from './started.ts'

@Controller('/orders')
export class OrdersController {
  @Get()
  list(): string {
    const socket = new WebSocket('wss://example.com')
    return `${started()} ${new Pool()} ${socket.url}`
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
// file: src/started.ts
export const started = () => crypto.randomUUID()
// file: src/seed.ts
// no class imports this file: it is a program of its own
await fetch('https://example.com')
export {}
// file: node_modules/pg/package.json
{ "name": "pg", "main": "index.js" }
// file: node_modules/pg/index.js
export class Pool {}
