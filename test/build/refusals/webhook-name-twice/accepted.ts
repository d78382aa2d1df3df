import { Module, On, Webhook } from '@stack/backend'

@Webhook({ name: 'payments', provider: 'payments', secret: { env: 'PAYMENTS_SECRET' } })
export class PaymentsWebhook {
  @On('payment.succeeded')
  paid(): void {}
}

@Webhook({ name: 'stripe', provider: 'stripe', secret: { env: 'STRIPE_SECRET' } })
export class StripeWebhook {
  @On('invoice.paid')
  paid(): void {}
}

@Module({ providers: [PaymentsWebhook, StripeWebhook] })
export class AppModule {}
