import { Database, On, Webhook, type WebhookMeta } from '@stack/backend'

async function store(event: string, payload: unknown): Promise<void> {
  const bytes = payload instanceof Uint8Array ? payload.length : null
  await Database.$asService().sql`
    insert into received (event, payload, bytes) values (${event}, ${JSON.stringify(payload)}, ${bytes})`
}

@Webhook({ name: 'stripe', provider: 'stripe', secret: { env: 'STRIPE_SECRET' } })
export class FirstReceiver {
  @On('invoice.paid')
  @On('invoice.voided')
  invoice(payload: unknown, meta: WebhookMeta) {
    return store(meta.event, payload)
  }

  @On('probe.reply')
  reply() {
    return new Response('<Response/>', { headers: { 'content-type': 'text/xml' } })
  }

  @On('probe.write-and-throw')
  async failing() {
    await store('probe.write-and-throw', null)
    throw new Error('after writing')
  }

  @On('probe.whoami')
  async whoami() {
    const [user] = await Database.sql<{ uid: string | null; notes: string }>`
      select auth.uid() as uid, (select count(*) from notes) as notes`
    await store('probe.whoami', user)
  }

  @On('__proto__')
  proto() {
    return store('__proto__', null)
  }
}

@Webhook({ name: 'github', provider: 'github', secret: { env: 'GITHUB_SECRET' } })
export class SecondReceiver {
  @On('issues.opened')
  opened(payload: unknown, meta: WebhookMeta) {
    return store(meta.event, payload)
  }

  @On('push')
  push(payload: unknown, meta: WebhookMeta) {
    return store(meta.event, payload)
  }
}

@Webhook({
  name: 'signed-block',
  secret: { env: 'BLOCK_SECRET' },
  signature: {
    header: 'X-Block-Signature',
    prefix: 'v0=',
    algo: 'hmac-sha1',
    encoding: 'base64',
    signs: '$&{ts}:{body}:{id}',
    timestampHeader: 'X-Block-Time',
  },
})
export class SignedReceiver {
  @On('ping')
  ping(payload: unknown, meta: WebhookMeta) {
    return store(meta.event, { requestId: meta.requestId, env: meta.env === undefined, payload })
  }
}

@Webhook({ name: 'unset', provider: 'payments', secret: { env: 'UNSET_SECRET' } })
export class UnsetReceiver {
  @On('ping')
  ping() {
    return store('unset', null)
  }
}
