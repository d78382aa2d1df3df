import { Database, Log, On, Webhook, type WebhookMeta } from '@stack/backend'

interface PaymentSucceeded {
  type: 'payment.succeeded'
  data: { order: string | number }
}

/** A webhook has no signed-in user, so it reaches the order as the service. A repeated delivery pays only once. */
@Webhook({ name: 'payments', provider: 'payments', secret: { env: 'PAYMENTS_SECRET' }, dedupe: true, record: true })
export class PaymentsWebhook {
  @On('payment.succeeded')
  async paid({ data }: PaymentSucceeded, meta: WebhookMeta): Promise<void> {
    const rows = await Database.$asService().sql`
      update orders set status = 'paid' where id = ${data.order} and status = 'open' returning id`
    Log.info(rows.length > 0 ? 'an order is paid' : 'no open order to pay', { order: data.order, event: meta.event })
  }
}
