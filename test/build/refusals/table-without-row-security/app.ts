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
// file: migrations/0001_invoices.sql
create table invoices (id text primary key, owner text not null);
grant select on invoices to backend_authenticated;
