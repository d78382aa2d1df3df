import { Module, On, Webhook } from '@stack/backend'

@Webhook({
  name: 'billing',
  secret: { env: 'BILLING_SECRET' },
  signature: {
    header: 'x-signature',
    algo: 'hmac-sha256',
    encoding: 'hex',
    signs: '{ts}.{body}',
    timestampHeader: 'x-timestamp',
  },
})
export class BillingWebhook {
  @On('invoice.paid')
  paid(): void {}
}

@Module({ providers: [BillingWebhook] })
export class AppModule {}
