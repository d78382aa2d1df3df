import { Controller, Database, Get, Module, Param } from '@stack/backend'

@Controller('/orders/:order')
export class InvoicesController {
  @Get('invoices/:invoice')
  show(@Param('order') order: string, @Param('invoice') invoice: string) {
    return Database.sql`select * from invoices where id = ${invoice} and "order" = ${order}`
  }
}

@Module({ controllers: [InvoicesController] })
export class AppModule {}
