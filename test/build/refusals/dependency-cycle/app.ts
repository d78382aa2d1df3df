import { Injectable, Module } from '@stack/backend'

@Injectable()
export class Orders {
  constructor(private readonly invoices: Invoices) {}

  close(id: string): string {
    return this.invoices.write(id)
  }
}

@Injectable()
export class Invoices {
  constructor(private readonly orders: Orders) {}

  write(id: string): string {
    return `invoice of ${id}`
  }
}

@Module({ providers: [Orders, Invoices] })
export class AppModule {}
