import { Database, HttpError, Injectable } from '@stack/backend'

export interface Product {
  sku: string
  name: string
  price_cents: number
}

@Injectable()
export class Prices {
  all(): Promise<Product[]> {
    return Database.sql<Product>`select sku, name, price_cents from products order by sku`
  }

  /** @returns the price of a quantity of one product, in cents. */
  async total(sku: string, quantity: number): Promise<number> {
    const [product] = await Database.sql<Product>`select price_cents from products where sku = ${sku}`
    if (!product) throw new HttpError(404, 'unknown_product', `there is no product "${sku}"`)
    return product.price_cents * quantity
  }
}
