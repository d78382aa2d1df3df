import { Log, Module, On, Webhook } from '@stack/backend'

@Webhook({ name: 'payments', provider: 'payments', secret: { env: 'PAYMENTS_SECRET' } })
export class PaymentsWebhook {
  @On('payment.succeeded')
  paid(payload: { id: string }): void {
    Log.info('an order is paid', { id: payload.id })
  }
}

@Module({ providers: [PaymentsWebhook] })
export class AppModule {}
