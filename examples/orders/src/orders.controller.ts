import { Body, Controller, Get, Log, Param, Post, User, type UserT } from '@stack/backend'
import * as v from 'valibot'
import { type Order, Orders, type StatusSummary } from './orders.ts'

/** An order as the customer sends it. It is checked before the handler runs, and the answer names every wrong field. */
const NewOrder = v.strictObject({
  sku: v.string(),
  quantity: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(99)),
})
type NewOrder = v.InferOutput<typeof NewOrder>

/** Every route requires a signed-in user, which is the default. */
@Controller('/orders')
export class OrdersController {
  constructor(private readonly orders: Orders) {}

  @Get()
  list(): Promise<Order[]> {
    return this.orders.visible()
  }

  @Post('', { status: 201 })
  place(@Body(NewOrder) { sku, quantity }: NewOrder, @User() user: UserT): Promise<Order> {
    Log.info('an order is placed', { by: user.id, sku })
    return this.orders.place(sku, quantity)
  }

  @Get('summary')
  summary(): Promise<StatusSummary[]> {
    return this.orders.summary()
  }

  @Get(':id')
  show(@Param('id') id: string): Promise<Order> {
    return this.orders.one(id)
  }

  /** An invoice carries the caller's address, so the address must be confirmed. */
  @Get(':id/invoice', { auth: { verifiedEmail: true } })
  async invoice(@Param('id') id: string, @User() user: UserT) {
    const { total_cents, status } = await this.orders.one(id)
    return { order: id, to: user.email, total_cents, status }
  }
}
