/** Type errors in the declaration of a webhook. This file is type checked and never runs. */
import { On, standardWebhooks, Webhook, type WebhookMeta } from '@stack/backend'

interface Invoice {
  id: string
  amount: number
}

@Webhook({ name: 'typed', provider: 'stripe', secret: { env: 'A', previous: 'B' }, dedupe: true, record: { days: 7 } })
export class Typed {
  @On<Invoice>('invoice.paid')
  paid({ amount }: Invoice, { event }: WebhookMeta): string {
    return event + amount
  }

  @On<Invoice>('invoice.sent')
  @On<Invoice>('invoice.seen')
  less({ id }: Pick<Invoice, 'id'>): string {
    return id
  }

  // @ts-expect-error an invoice has no such field
  @On<Invoice>('invoice.voided')
  voided({ reason }: { reason: string }): string {
    return reason
  }

  @On('anything')
  anything(payload: { whatever: true }): unknown {
    return payload
  }

  // @ts-expect-error there is no third argument
  @On('too.many')
  tooMany(payload: unknown, meta: WebhookMeta, more: string): unknown {
    return [payload, meta, more]
  }
}

@Webhook({ name: 'standard', signature: standardWebhooks, secret: { env: 'A' } })
export class Standard {}

// @ts-expect-error one scheme, not two
@Webhook({ name: 'both', provider: 'stripe', signature: standardWebhooks, secret: { env: 'A' } })
export class Both {}

// @ts-expect-error `standard` is no provider (contract 7.3)
@Webhook({ name: 'named', provider: 'standard', secret: { env: 'A' } })
export class Named {}
