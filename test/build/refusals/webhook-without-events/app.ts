import { Log, Module, Webhook } from '@stack/backend'

@Webhook({ name: 'payments', provider: 'payments', secret: { env: 'PAYMENTS_SECRET' } })
export class PaymentsWebhook {
  paid(payload: { id: string }): void {
    Log.info('an order is paid', { id: payload.id })
  }
}

@Module({ providers: [PaymentsWebhook] })
export class AppModule {}
