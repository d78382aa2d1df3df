import { Database, Log, On, Webhook } from '@stack/backend'

interface PaymentSucceeded {
  type: 'payment.succeeded'
  data: { reference: string; amount_cents: number }
}

/**
 * `POST /webhooks/payments`. The signature is verified before the handler runs, and a repeated delivery takes effect once. A payment that
 * is sent again with a new signature changes nothing. A webhook has no signed-in user, so it reaches the tables as the service.
 */
@Webhook({ name: 'payments', provider: 'payments', secret: { env: 'PAYMENTS_SECRET' }, dedupe: true, record: true })
export class PaymentsWebhook {
  @On('payment.succeeded')
  async paid({ data }: PaymentSucceeded): Promise<void> {
    await Database.$asService().sql`
      insert into payments (reference, amount_cents) values (${data.reference}, ${data.amount_cents})
      on conflict (reference) do nothing`
    Log.info('a payment is recorded', { reference: data.reference })
  }
}
