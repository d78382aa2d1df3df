import { Body, Controller, Get, HttpError, Log, Param, Post, User, type UserT } from '@stack/backend'
import { type Order, Orders } from './orders.ts'

/** Every route requires a signed-in user: that is the default. */
@Controller('/orders')
export class OrdersController {
  constructor(private readonly orders: Orders) {}

  @Get()
  list(): Promise<Order[]> {
    return this.orders.visible()
  }

  @Post('', { status: 201 })
  place(@Body() body: unknown, @User() user: UserT): Promise<Order> {
    const { sku, quantity } = (body ?? {}) as { sku?: unknown; quantity?: unknown }
    if (typeof sku !== 'string' || !Number.isInteger(quantity) || Number(quantity) < 1 || Number(quantity) > 99) {
      throw new HttpError(400, 'invalid_request', 'an order is { "sku": text, "quantity": 1 to 99 }')
    }
    Log.info('an order is placed', { by: user.id, sku })
    return this.orders.place(sku, Number(quantity))
  }

  @Get(':id')
  show(@Param('id') id: string): Promise<Order> {
    return this.orders.one(id)
  }

  /** An invoice carries an address, so the address must be a confirmed one. */
  @Get(':id/invoice', { auth: { verifiedEmail: true } })
  async invoice(@Param('id') id: string, @User() user: UserT) {
    const { total_cents, status } = await this.orders.one(id)
    return { order: id, to: user.email, total_cents, status }
  }
}
