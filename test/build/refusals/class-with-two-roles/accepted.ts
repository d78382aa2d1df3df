import { Controller, Database, Get, Module, On, Webhook } from '@stack/backend'

@Controller('/payments')
export class Payments {
  @Get()
  list() {
    return Database.sql`select * from payments`
  }
}

@Webhook({ name: 'payments', provider: 'payments', secret: { env: 'PAYMENTS_SECRET' } })
export class PaymentsWebhook {
  @On('payment.succeeded')
  async paid(payload: { order: string }): Promise<void> {
    await Database.$asService().sql`insert into payments ("order") values (${payload.order})`
  }
}

@Module({ controllers: [Payments], providers: [PaymentsWebhook] })
export class AppModule {}
