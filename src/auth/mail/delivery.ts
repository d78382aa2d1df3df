/** Sends the messages of the outbox: right after the commit that queued them, and again on a schedule until they are taken. */
import { Cron, Database, Injectable, Log } from '@stack/backend'
import type { Message } from '../../wire/message.ts'
import type { Settings } from '../../wire/settings.ts'
import { Limits } from '../limits/rows.ts'
import { SettingsRows } from '../settings/rows.ts'
import type { Sql } from '../shared/sql.ts'
import { isBuiltIn } from './catalogue.ts'
import { type NewMessage, Outbox, type QueuedMessage } from './outbox.ts'
import { Preparation } from './preparation.ts'
import { oneLine, SendFailed } from './senders/failure.ts'
import { Senders } from './senders/index.ts'

/** Messages that one run of the schedule takes: it must end within the minute. */
const mostAtOnce = 50
/** Messages that are sent at the same time: mail servers take few connections of one client. */
const parallel = 5

@Injectable()
export class Delivery {
  constructor(
    private readonly limits: Limits,
    private readonly outbox: Outbox,
    private readonly preparation: Preparation,
    private readonly senders: Senders,
    private readonly settings: SettingsRows,
  ) {}

  /** Queues a message in the transaction of the request, and sends it after its commit. @returns its id. */
  async queue(message: NewMessage): Promise<string> {
    const id = await this.outbox.queue(message)
    Database.$afterCommit(() => this.deliver([id]))
    return id
  }

  /** Each minute: messages whose first attempt failed, or whose worker was stopped before it. */
  @Cron('* * * * *')
  async deliverDue(): Promise<void> {
    await this.deliver(null)
  }

  private async deliver(ids: readonly string[] | null): Promise<void> {
    const waiting = await this.outbox.claim(ids, mostAtOnce)
    const work = async () => {
      for (let message = waiting.pop(); message; message = waiting.pop()) await this.attempt(message)
    }
    await Promise.all(Array.from({ length: Math.min(parallel, waiting.length) }, work))
  }

  private async attempt(queued: QueuedMessage): Promise<void> {
    let prepared: { message: Message; settings: Settings } | undefined
    try {
      prepared = await Database.$apart(async (sql) => {
        const { document: settings } = await this.settings.read(sql)
        const message = (await this.isAdmitted(queued, settings, sql))
          ? await this.preparation.prepare(queued, settings, sql)
          : undefined
        if (!message) await this.outbox.settle(queued.id, 'dropped', null, sql)
        return message && { message, settings }
      })
      if (!prepared) return
      await this.senders.send(prepared.message, prepared.settings)
    } catch (error) {
      return this.failed(queued, error)
    }
    await Database.$apart((sql) => this.outbox.settle(queued.id, 'sent', null, sql))
  }

  /** Counts every mail to an address: else a stranger who has made an account with the address could fill its mailbox. */
  private async isAdmitted(
    { channel, recipient, attempts, template }: QueuedMessage,
    settings: Settings,
    sql: Sql,
  ): Promise<boolean> {
    if (channel !== 'email' || attempts > 1 || !isBuiltIn(template)) return true
    return !(await this.limits.take(sql, 'mail_per_recipient_daily', recipient, settings))
  }

  private async failed(queued: QueuedMessage, error: unknown): Promise<void> {
    const { id, template, attempts } = queued
    const isFinal = error instanceof SendFailed && error.isFinal
    const reply = error instanceof SendFailed ? error.reply : oneLine(String(error))
    const isAlive = await Database.$apart(async (sql) => {
      if (!isFinal) return this.outbox.postpone(queued, reply, sql)
      await this.outbox.settle(id, 'dead', reply, sql)
      return false
    })
    const fields = { message_id: id, template, attempts, reply }
    if (isAlive) Log.warn('a message was not sent: it is tried again', fields)
    else Log.error('a message is given up', fields)
  }
}
