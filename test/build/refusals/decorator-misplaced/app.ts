import { Database, Get, Injectable, Module } from '@stack/backend'

@Injectable()
export class Orders {
  @Get()
  list() {
    return Database.sql`select * from orders`
  }
}

@Module({ providers: [Orders] })
export class AppModule {}
