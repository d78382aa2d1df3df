import { Database, Log, Notifications, On, Webhook, type WebhookMeta } from '@stack/backend'

interface PaymentSucceeded {
  type: 'payment.succeeded'
  data: { order: string | number }
}

interface PaidOrder {
  id: string
  owner: string
  sku: string
  quantity: number
  total_cents: number
}

/** A webhook has no signed-in user, so it reaches the order as the service. A repeated delivery pays only once. */
@Webhook({ name: 'payments', provider: 'payments', secret: { env: 'PAYMENTS_SECRET' }, dedupe: true, record: true })
export class PaymentsWebhook {
  @On('payment.succeeded')
  async paid({ data }: PaymentSucceeded, meta: WebhookMeta): Promise<void> {
    const [order] = await Database.$asService().sql<PaidOrder>`
      update orders set status = 'paid' where id = ${data.order} and status = 'open' returning *`
    // a payment that is rolled back has no receipt
    if (order) Database.$afterCommit(() => receipt(order))
    Log.info(order ? 'an order is paid' : 'no open order to pay', { order: data.order, event: meta.event })
  }
}

/** Mails the owner of the order. `stack/templates/receipt.json` has the words. */
async function receipt({ id, owner, sku, quantity, total_cents }: PaidOrder): Promise<void> {
  const total = `${(total_cents / 100).toFixed(2)} EUR`
  await Notifications.send({
    to: owner,
    template: 'receipt',
    variables: { order: id, items: `${quantity} × ${sku}`, total },
  })
}
