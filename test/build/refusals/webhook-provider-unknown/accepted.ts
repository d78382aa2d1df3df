import { Module, On, Webhook } from '@stack/backend'

@Webhook({ name: 'billing', provider: 'stripe', secret: { env: 'STRIPE_SECRET' } })
export class StripeWebhook {
  @On('invoice.paid')
  paid(): void {}
}

@Module({ providers: [StripeWebhook] })
export class AppModule {}
