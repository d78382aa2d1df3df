import { Database, Injectable, Module } from '@stack/backend'

@Injectable()
export class Prices {
  all() {
    return Database.sql`select * from prices`
  }
}

@Module({ providers: [Prices] })
export class AppModule {}

export class PricesModule {}
