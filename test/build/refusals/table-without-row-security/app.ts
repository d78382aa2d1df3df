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
