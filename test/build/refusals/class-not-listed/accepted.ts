import { Controller, Database, Get, Module } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Get()
  list() {
    return Database.sql`select * from orders`
  }
}

@Controller('/invoices')
export class InvoicesController {
  @Get()
  list() {
    return Database.sql`select * from invoices`
  }
}

@Module({ controllers: [OrdersController, InvoicesController] })
export class AppModule {}
