import { Database, Injectable, Module } from '@stack/backend'

@Injectable()
export class Prices {
  all() {
    return Database.sql`select * from prices`
  }
}

export class Orders {
  constructor(private readonly prices: Prices) {}

  quote() {
    return this.prices.all()
  }
}

@Module({ providers: [Orders, Prices] })
export class AppModule {}
