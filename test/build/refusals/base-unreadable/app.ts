import { Injectable, Module } from '@stack/backend'

@Injectable()
export class Mail {}

const named = (name: string) =>
  class {
    readonly name = name
    constructor(readonly mail: Mail) {}
  }

@Injectable()
export class Orders extends named('orders') {}

@Module({ providers: [Mail, Orders] })
export class AppModule {}
