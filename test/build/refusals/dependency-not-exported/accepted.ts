import { Controller, Get, Module } from '@stack/backend'
import { Prices, PricesModule } from './prices.module.ts'

@Controller('/catalogue')
export class CatalogueController {
  constructor(private readonly prices: Prices) {}

  @Get()
  show() {
    return this.prices.all()
  }
}

@Module({ imports: [PricesModule], controllers: [CatalogueController] })
export class AppModule {}
// file: src/prices.module.ts
import { Database, Injectable, Module } from '@stack/backend'

@Injectable()
export class Prices {
  all() {
    return Database.sql`select sku, price_cents from products`
  }
}

@Module({ providers: [Prices], exports: [Prices] })
export class PricesModule {}
