import { Controller, Database, Get, Module } from '@stack/backend'
import { createHash } from 'node:crypto'
import { pepper } from './pepper'

@Controller('/invoices')
export class InvoicesController {
  @Get('digest')
  async digest() {
    const invoices = await Database.sql`select * from invoices order by id`
    return { sha256: createHash('sha256').update(pepper).update(JSON.stringify(invoices)).digest('hex') }
  }
}

@Module({ controllers: [InvoicesController] })
export class AppModule {}
// file: src/pepper.ts
export const pepper = 'sea'
