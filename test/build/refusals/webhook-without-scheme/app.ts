import { Module, On, Webhook } from '@stack/backend'

@Webhook({ name: 'payments', secret: { env: 'PAYMENTS_SECRET' } })
export class PaymentsWebhook {
  @On('payment.succeeded')
  paid(): void {}
}

@Module({ providers: [PaymentsWebhook] })
export class AppModule {}
