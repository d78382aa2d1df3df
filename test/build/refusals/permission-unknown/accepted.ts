import { Controller, Database, Module, Param, Post } from '@stack/backend'

@Controller('/orders')
export class OrdersController {
  @Post(':id/refund', { auth: { permission: 'orders.refund' } })
  refund(@Param('id') id: string) {
    return Database.sql`update orders set status = 'refunded' where id = ${id}`
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
