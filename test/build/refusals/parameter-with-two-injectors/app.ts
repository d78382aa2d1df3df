import { Controller, Database, Get, Module, Param, Query } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Get(':id')
  show(@Param('id') @Query('id') id: string) {
    return Database.sql`select * from orders where id = ${id}`
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
