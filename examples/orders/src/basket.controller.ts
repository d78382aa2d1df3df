import { Body, Controller, Database, Get, HttpError, OptionalUser, Param, Post, Put, type UserT } from '@stack/backend'
import * as v from 'valibot'
import { type Order, Orders } from './orders.ts'

const Quantity = v.strictObject({ quantity: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(99)) })

interface Item {
  sku: string
  quantity: number
}

/**
 * A guest fills a basket (`POST /auth/anonymous` gives the token) and orders once they have an account: `POST /auth/upgrade` keeps the
 * user's id, so the basket stays theirs.
 */
@Controller('/basket', { auth: false })
export class BasketController {
  constructor(private readonly orders: Orders) {}

  @Get()
  async show(@OptionalUser() user: UserT | null): Promise<Item[]> {
    requireGuestOrUser(user)
    return Database.sql<Item>`select sku, quantity from basket_items order by sku`
  }

  @Put(':sku')
  async put(
    @Param('sku') sku: string,
    @Body(Quantity) { quantity }: v.InferOutput<typeof Quantity>,
    @OptionalUser() user: UserT | null,
  ): Promise<void> {
    requireGuestOrUser(user)
    const [known] = await Database.sql`
      insert into basket_items (sku, quantity) select sku, ${quantity} from products where sku = ${sku}
      on conflict (owner, sku) do update set quantity = excluded.quantity returning sku`
    if (!known) throw new HttpError(404, 'unknown_product', `there is no product "${sku}"`)
  }

  /** Each item becomes an order, in one transaction. A guest has no account to send the goods to. */
  @Post('order', { auth: true, status: 201 })
  async order(): Promise<Order[]> {
    const items = await Database.sql<Item>`delete from basket_items returning sku, quantity`
    const placed: Order[] = []
    for (const { sku, quantity } of items) placed.push(await this.orders.place(sku, quantity))
    return placed
  }
}

function requireGuestOrUser(user: UserT | null): void {
  if (!user) throw new HttpError(401, 'unauthorized', 'begin a guest session first: POST /auth/anonymous')
}
