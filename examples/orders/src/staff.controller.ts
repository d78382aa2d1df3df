import { Controller, Get, Param, Post } from '@stack/backend'
import { type Order, Orders } from './orders.ts'

/** Routes for the people who run the shop. */
@Controller('/staff/orders', { auth: { role: 'staff' } })
export class StaffController {
  constructor(private readonly orders: Orders) {}

  /** The same query as a customer's list: the policy for `orders.read` lets staff see every row. */
  @Get()
  list(): Promise<Order[]> {
    return this.orders.visible()
  }

  /** A route's rule replaces its controller's, so a manager need not be staff. */
  @Post(':id/refund', { auth: { permission: 'orders.refund' } })
  refund(@Param('id') id: string): Promise<Order> {
    return this.orders.refund(id)
  }
}
