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
create table currencies (code text primary key);
grant select on currencies to backend_authenticated;
// file: migrations/0002_policies.sql
alter table invoices enable row level security;
create policy own on invoices using (owner = (select auth.uid()));
comment on table currencies is 'The same for everybody. @stack public';
