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
alter table orders enable row level security;
create policy own on orders using (owner = (select auth.uid()));
grant select on orders to backend_authenticated;
create view latest with (security_invoker = true) as
  select * from orders order by id desc limit 10;
grant select on latest to backend_authenticated;
