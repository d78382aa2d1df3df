import { Database, Injectible, Module } from '@stack/backend'

@Injectible()
export class Orders {
  list() {
    return Database.sql`select * from orders`
  }
}

@Module({ providers: [Orders] })
export class AppModule {}
