import { Controller, Get, Injectable, Module } from '@stack/backend'

@Injectable()
export class Prices {
  private known: string[] = []

  constructor() {
    this.known = ['tea']
  }

  all(): string[] {
    return this.known
  }
}

@Controller('/prices')
export class PricesController {
  constructor(private readonly prices: Prices) {}

  @Get()
  list(): string[] {
    return this.prices.all()
  }
}

@Module({ controllers: [PricesController], providers: [Prices] })
export class AppModule {}
