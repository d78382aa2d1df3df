import { Controller, Database, Get, Module } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Get()
  list() {
    return Database.sql`select * from orders`
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
// file: migrations/0001_orders.sql
create table orders (id text primary key, owner text not null);
grant select on orders to backend_authenticated;
create table currencies (code text primary key);
grant select on currencies to backend_authenticated;
// file: migrations/0002_policies.sql
alter table orders enable row level security;
create policy own on orders using (owner = (select auth.uid()));
comment on table currencies is 'The same for everybody. @stack public';
