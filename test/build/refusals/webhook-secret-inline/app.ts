import { Module, On, Webhook } from '@stack/backend'

@Webhook({ name: 'billing', provider: 'stripe', secret: { env: 'whsec_bm90LWEtcmVhbC1zZWNyZXQ' } })
export class StripeWebhook {
  @On('invoice.paid')
  paid(): void {}
}

@Module({ providers: [StripeWebhook] })
export class AppModule {}
