import { Database, Module, On, Webhook } from '@stack/backend'

@Webhook({ name: 'payments', provider: 'payments', secret: { env: 'PAYMENTS_SECRET' } })
export class PaymentsWebhook {
  @On('payment.succeeded')
  async paid(payload: { order: string }): Promise<void> {
    await Database.$asService().sql`update orders set status = 'paid' where id = ${payload.order}`
  }
}

@Module({ providers: [PaymentsWebhook] })
export class AppModule {}
