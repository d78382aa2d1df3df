import { Controller, Database, Get, Module } from '@stack/backend'

@Controller('/invoices')
export class InvoicesController {
  @Get()
  list() {
    return Database.sql`select * from invoices`
  }
}

@Module({ controllers: [InvoicesController] })
export class AppModule {}
