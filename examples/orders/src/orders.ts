import { Database, HttpError, Injectable } from '@stack/backend'
import { Prices } from './prices.ts'

export interface Order {
  id: string
  owner: string
  sku: string
  quantity: number
  total_cents: number
  status: 'open' | 'paid' | 'refunded'
  /** An RFC 3339 text in a JSON answer. */
  created_at: Date
}

export interface StatusSummary {
  status: Order['status']
  orders: number
  total_cents: number
}

/**
 * No query names an owner. The queries run as the caller, and row-level security decides which rows they see.
 */
@Injectable()
export class Orders {
  constructor(private readonly prices: Prices) {}

  visible(): Promise<Order[]> {
    return Database.sql<Order>`select * from orders order by id`
  }

  /** Reads a view, which shows only rows that the caller's policies admit. */
  summary(): Promise<StatusSummary[]> {
    return Database.sql<StatusSummary>`select * from order_summary order by status`
  }

  async one(id: string): Promise<Order> {
    const [order] = /^[0-9]{1,18}$/.test(id) ? await Database.sql<Order>`select * from orders where id = ${id}` : []
    if (!order) throw new HttpError(404, 'not_found', `there is no order ${id}`)
    return order
  }

  async place(sku: string, quantity: number): Promise<Order> {
    const total = await this.prices.total(sku, quantity)
    const [order] = await Database.sql<Order>`
      insert into orders (sku, quantity, total_cents) values (${sku}, ${quantity}, ${total}) returning *`
    return order!
  }

  async refund(id: string): Promise<Order> {
    const order = await this.one(id)
    if (order.status !== 'paid') throw new HttpError(409, 'conflict', `order ${id} is ${order.status}, not paid`)
    const [refunded] = await Database.sql<Order>`
      update orders set status = 'refunded' where id = ${id} returning *`
    return refunded!
  }
}
