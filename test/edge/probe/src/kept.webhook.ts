import { Database, Log, On, Secrets, standardWebhooks, Webhook, type WebhookMeta } from '@stack/backend'

interface Invoice {
  id?: string
  type: string
  amount?: number
}

@Webhook({ name: 'once', provider: 'payments', secret: { env: 'ONCE_SECRET' }, dedupe: true, record: { days: 2 } })
export class OnceReceiver {
  @On<Invoice>('invoice.paid')
  async paid(invoice: Invoice) {
    await Database.$asService().sql`select pg_sleep(0.05)`
    await Database.$asService()
      .sql`insert into received (event, payload) values (${invoice.id ?? 'nameless'}, ${JSON.stringify(invoice)})`
  }

  @On('fails.once')
  async failsOnce({ id }: Invoice) {
    const [row] = await Database.sql<{ count: string }>`select count(*) from tries where id = ${id!}`
    await Database.$asService().sql`insert into received (event) values (${id!})`
    if (row!.count === '0') throw new Error('not yet')
  }

  @On('fails.at-commit')
  async failsAtCommit({ id }: Invoice) {
    const service = Database.$asService()
    await service.sql`insert into received (event) values (${id!})`
    const [row] = await Database.sql<{ count: string }>`select count(*) from tries where id = ${id!}`
    if (row!.count === '0') await service.sql`insert into late (id, parent) values (1, 2)`
  }

  @On('writes.as-caller')
  async writes() {
    await Database.sql`insert into tries (id) values ('never')`
  }

  @On('swallows.a-write')
  async swallows({ id }: Invoice) {
    await Database.$asService().sql`insert into received (event) values (${id!})`
    await Database.sql`insert into tries (id) values ('never')`.catch(() => {})
  }

  /** Keeps its transaction open for as long as a slow handler may. */
  @On('takes.long')
  async takesLong() {
    const { promise, resolve } = Promise.withResolvers<void>()
    setTimeout(resolve, 8_000)
    await promise
  }

  @On('tries.to-write')
  async unlocks() {
    await Database.sql`set transaction read write`
    await Database.sql`insert into tries (id) values ('never')`
  }
}

@Webhook({
  name: 'rotated',
  provider: 'github',
  secret: { env: 'ROTATED_SECRET', previous: 'ROTATED_SECRET_OLD' },
  record: true,
  maxBodyBytes: 1000,
})
export class RotatedReceiver {
  @On('push')
  push(payload: { fails?: boolean }, meta: WebhookMeta) {
    Log.info('pushed', { secret: Secrets.get('ROTATED_SECRET') !== undefined, event: meta.event })
    if (payload.fails) throw new Error('the handler failed')
  }
}

@Webhook({ name: 'standard', secret: { env: 'STANDARD_SECRET' }, signature: standardWebhooks, dedupe: true })
export class StandardReceiver {
  @On('ping')
  async ping() {
    await Database.$asService().sql`insert into received (event) values ('standard.ping')`
  }
}

@Webhook({ name: 'misshapen', provider: 'discord', secret: { env: 'MISSHAPEN_SECRET' } })
export class MisshapenReceiver {
  @On('PING')
  ping() {}
}

@Webhook({
  name: 'sms',
  provider: 'sms',
  secret: { env: 'SMS_SECRET' },
  publicUrl: "https://Hooks.example/o'brien/sms",
})
export class SmsReceiver {
  @On('onMessageAdded')
  added() {}
}

@Webhook({ name: 'twilio', provider: 'twilio', secret: { env: 'SMS_SECRET' } })
export class TwilioReceiver {
  @On('received')
  received() {}
}
