/** Messages that are to be sent: rows that are written in the transaction that causes them. */
import { Cron, Database, Injectable } from '@stack/backend'
import { newId } from '../../wire/ids.ts'
import { inRequest, type Sql } from '../shared/sql.ts'
import type { DeclaredKey } from './catalogue.ts'
import type { TemplateKey } from './templates.ts'

export interface NewMessage {
  template: TemplateKey | DeclaredKey
  channel?: 'email' | 'sms'
  /** An address that was checked, or a phone number. */
  recipient: string
  /** `null` where the account is only looked for when the message is sent, so that no answer's time tells whether there is one. */
  userId: string | null
  /** Never a token or a code: those are made when the message is sent. */
  variables?: Record<string, string>
}

export interface QueuedMessage extends Required<Pick<NewMessage, 'channel' | 'recipient' | 'variables'>> {
  id: string
  /** A key of the built-in templates, or the project's own. */
  template: string
  user_id: string | null
  /** Attempts with this one. */
  attempts: number
  created_at: Date
}

/** Seconds before each next attempt. After the last one, about two days after the first, the message is dead. */
const backOff = [60, 300, 900, 3_600, 14_400, 43_200, 86_400]

/** Days that the row of a message is kept after its end, for the person who asks what was sent. */
const keptDays = 30

/** Messages with which the reader proves the control of an address, and so may act for the account. */
const actionTemplates: TemplateKey[] = [
  'confirm_email',
  'email_change_confirm',
  'magic_link',
  'phone_change_otp',
  'phone_otp',
  'reset_password',
  'sign_in_code',
]

@Injectable()
export class Outbox {
  /** @param sql the transaction of the change that the message tells of, so that neither stands without the other. */
  async queue(
    { template, channel = 'email', recipient, userId, variables = {} }: NewMessage,
    sql: Sql = inRequest,
  ): Promise<string> {
    const id = newId('msg_')
    await sql`insert into auth.outbox (id, template, channel, recipient, user_id, variables)
      values (${id}, ${template}, ${channel}, ${recipient}, ${userId}, ${JSON.stringify(variables)})`
    return id
  }

  /**
   * Takes messages that are due. Until the next attempt is due no other worker takes them: a worker that is stopped while it sends
   * loses none.
   *
   * @param ids those to take, or `null` for any.
   */
  claim(ids: readonly string[] | null, most: number): Promise<QueuedMessage[]> {
    return Database.$apart(
      (sql) => sql<QueuedMessage>`
        update auth.outbox set attempts = attempts + 1,
          next_attempt_at = now() + make_interval(secs => (${JSON.stringify(backOff)}::jsonb -> least(attempts, ${backOff.length - 1})::integer)::float8)
        where id in (select id from auth.outbox
          where status = 'queued' and next_attempt_at <= now() and (${ids}::text[] is null or id = any (${ids}::text[]))
          order by next_attempt_at limit ${most} for update skip locked)
        returning id, template, channel, recipient, user_id, variables, attempts, created_at`,
    )
  }

  /** The message is sent, or there is no reason for it any more (`dropped`). */
  async settle(id: string, status: 'sent' | 'dropped' | 'dead', error: string | null, sql: Sql): Promise<void> {
    await sql`
      update auth.outbox set status = ${status}, last_error = ${error}, sent_at = case when ${status} = 'sent' then now() end,
        variables = '{}'
      where id = ${id} and status = 'queued'`
  }

  /** The message waits for its next attempt. @returns whether there is one: else the message is dead. */
  async postpone({ id, attempts }: QueuedMessage, error: string, sql: Sql): Promise<boolean> {
    if (attempts > backOff.length) {
      await this.settle(id, 'dead', error, sql)
      return false
    }
    await sql`update auth.outbox set last_error = ${error} where id = ${id}`
    return true
  }

  /**
   * Drops what waits to be sent to the user, because the account has changed: a link in it would open the account as it is now.
   * @param alsoUndo also the mails with which a former address takes a change back.
   */
  async dropOf(userId: string, alsoUndo = false): Promise<void> {
    const dropped = alsoUndo ? [...actionTemplates, 'email_change_notice'] : actionTemplates
    await inRequest`
      update auth.outbox set status = 'dropped', variables = '{}'
      where user_id = ${userId} and status = 'queued' and template = any (${dropped}::text[])`
  }

  @Cron('17 3 * * *')
  async forgetSettled(): Promise<void> {
    await inRequest`
      delete from auth.outbox where status <> 'queued' and created_at < now() - make_interval(days => ${keptDays})`
  }
}
