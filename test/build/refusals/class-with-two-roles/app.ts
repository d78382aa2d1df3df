import { Controller, Database, Get, Module, On, Webhook } from '@stack/backend'

@Controller('/payments')
@Webhook({ name: 'payments', provider: 'payments', secret: { env: 'PAYMENTS_SECRET' } })
export class Payments {
  @Get()
  list() {
    return Database.sql`select * from payments`
  }

  @On('payment.succeeded')
  async paid(payload: { order: string }): Promise<void> {
    await Database.$asService().sql`insert into payments ("order") values (${payload.order})`
  }
}

@Module({ controllers: [Payments] })
export class AppModule {}
