import { Module, On, Webhook } from '@stack/backend'

@Webhook({
  name: 'payments',
  secret: { env: 'PAYMENTS_SECRET' },
  signature: { header: 'x-signature', algo: 'hmac-sha256', encoding: 'hex', signs: '{body}' },
})
export class PaymentsWebhook {
  @On('payment.succeeded')
  paid(): void {}
}

@Module({ providers: [PaymentsWebhook] })
export class AppModule {}
