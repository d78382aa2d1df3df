import { Database, Injectable, Module } from '@stack/backend'

@Injectable()
export class Orders {
  list() {
    return Database.sql`select * from orders`
  }
}

@Module({ providers: [Orders] })
export class AppModule {}
