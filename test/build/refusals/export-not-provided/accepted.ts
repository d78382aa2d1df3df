import { Database, Injectable, Module } from '@stack/backend'

@Injectable()
export class Orders {
  list() {
    return Database.sql`select * from orders`
  }
}

export class Mail {
  send(to: string) {
    return Database.sql`insert into outbox (recipient) values (${to})`
  }
}

@Module({ providers: [Orders, Mail], exports: [Orders, Mail] })
export class AppModule {}
