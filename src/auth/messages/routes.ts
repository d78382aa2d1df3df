import { Body, Controller, Database, type HttpError, Post } from '@stack/backend'
import * as v from 'valibot'
import { userId } from '../../wire/ids.ts'
import { type Channel, commonVariables, templateName } from '../../wire/templates.ts'
import { Limits } from '../limits/rows.ts'
import { Catalogue, isBuiltIn, type KnownTemplate } from '../mail/catalogue.ts'
import { Delivery } from '../mail/delivery.ts'
import type { NewMessage } from '../mail/outbox.ts'
import { requireRecipient } from '../mail/recipients.ts'
import { Senders } from '../mail/senders/index.ts'
import { values } from '../mail/values.ts'
import { PhoneSettingsReader, requireAllowed } from '../providers/phone-settings.ts'
import { SettingsRows } from '../settings/rows.ts'
import { authError } from '../shared/errors.ts'
import type { Sql } from '../shared/sql.ts'
import { strictObject } from '../shared/strict-object.ts'
import { Users } from '../users/rows.ts'

const messageBody = strictObject({
  to: v.pipe(v.string(), v.maxLength(320)),
  template: v.pipe(v.string(), v.maxLength(63)),
  variables: v.optional(values, {}),
})
type MessageBody = v.InferOutput<typeof messageBody>

/** Messages of the project: what `Notifications.send` of the SDK calls (contract 9.11). */
@Controller('/v1/management/auth/messages', { auth: { serviceRole: 'key' } })
export class MessagesController {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly delivery: Delivery,
    private readonly limits: Limits,
    private readonly phoneSettings: PhoneSettingsReader,
    private readonly senders: Senders,
    private readonly settings: SettingsRows,
    private readonly users: Users,
  ) {}

  /** Queues a message, which is sent after the commit. */
  @Post('', { status: 202 })
  async send(@Body(messageBody) body: MessageBody): Promise<{ message_id: string }> {
    const { message, refused } = await Database.$apart((sql) => this.admit(body, sql))
    if (refused) throw refused
    return { message_id: await this.delivery.queue(message) }
  }

  /** Checks and counts the message. The refusal of a limit is returned: thrown here, it would not be counted. */
  private async admit(
    { to, template: key, variables }: MessageBody,
    sql: Sql,
  ): Promise<{ message: NewMessage; refused: HttpError | undefined }> {
    const template = await this.require(key, sql)
    requireVariables(template, variables)
    const { channel } = template
    const recipient = userId.test(to) ? await this.recipientOf(to, channel, sql) : requireRecipient(to, channel)
    if (channel === 'sms') requireAllowed(recipient, await this.phoneSettings.read(sql))
    const { document } = await this.settings.read(sql)
    if (!(await this.senders.transportOf(document, channel, sql))) throw authError('sender_not_configured')
    const refused =
      (await this.limits.take(sql, 'message_per_recipient', recipient, document)) ??
      (await this.limits.take(sql, 'messages', 'all', document))
    const user = userId.test(to) ? to : null
    return { message: { template: template.key, channel, recipient, userId: user, variables }, refused }
  }

  /** @throws HttpError 422 `invalid_message` for a template that the project does not declare. */
  private async require(key: string, sql: Sql): Promise<Extract<KnownTemplate, { origin: 'project' }>> {
    if (isBuiltIn(key)) {
      const reason = `"${key}" is a template of the stack itself, which it alone sends: declare one in stack/templates`
      throw invalidMessage('template', reason)
    }
    const template = templateName.test(key) ? await this.catalogue.find(key, sql) : undefined
    if (template?.origin === 'project') return template
    throw invalidMessage('template', `no template "${key}" is declared: add a file to stack/templates`)
  }

  /** @throws HttpError 404 `user_not_found`, 422 `invalid_message` for an account without an address or a number. */
  private async recipientOf(id: string, channel: Channel, sql: Sql): Promise<string> {
    const user = await this.users.byId(id, sql)
    if (!user) throw authError('user_not_found', `there is no user "${id}"`)
    const recipient = channel === 'email' ? user.email : user.phone
    if (recipient !== null) return recipient
    throw invalidMessage('to', `the user "${id}" has no ${channel === 'email' ? 'email address' : 'phone number'}`)
  }
}

/** @throws HttpError 422 `invalid_message` for the first variable that is unknown or missing. */
function requireVariables({ variables }: KnownTemplate, given: Record<string, string>): void {
  const names = variables.map(({ name }) => name)
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown !== undefined) {
    const shown = unknown.slice(0, 64)
    const isCommon = commonVariables.some((name) => name === unknown)
    const known = names.length > 0 ? `it declares ${names.join(', ')}` : 'it declares none'
    const reason = isCommon ? 'the stack gives its value itself' : known
    throw invalidMessage(`variables.${shown}`, `unknown variable "${shown}" of the template: ${reason}`)
  }
  const missing = variables.find(({ name, required }) => required && (given[name] ?? '') === '')
  if (missing) throw invalidMessage(`variables.${missing.name}`, `the required variable "${missing.name}" is missing`)
}

function invalidMessage(path: string, reason: string): HttpError {
  return authError('invalid_message', reason, { fields: [{ path, reason }] })
}
