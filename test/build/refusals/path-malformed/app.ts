import { Controller, Database, Get, Module } from '@stack/backend'

@Controller('/invoices')
export class InvoicesController {
  @Get('over due')
  overdue() {
    return Database.sql`select * from invoices where due < now()`
  }
}

@Module({ controllers: [InvoicesController] })
export class AppModule {}
