import { Database, Injectable } from '@stack/backend'
import { newId } from '../../wire/ids.ts'
import type { Message } from '../../wire/message.ts'
import type { Settings } from '../../wire/settings.ts'
import { Audit, type Entry } from '../audit/rows.ts'
import { Limits } from '../limits/rows.ts'
import { Catalogue, examplesOf, partsOf } from '../mail/catalogue.ts'
import { commonValues, composed, composedText } from '../mail/preparation.ts'
import { requireRecipient } from '../mail/recipients.ts'
import { SendFailed } from '../mail/senders/failure.ts'
import { Senders } from '../mail/senders/index.ts'
import { PhoneSettingsReader, requireAllowed } from '../providers/phone-settings.ts'
import { SettingsRows } from '../settings/rows.ts'
import { authError, invalidRequest } from '../shared/errors.ts'
import { locale } from './shown.ts'

export interface SentTest {
  message_id: string
  to: string
  transport: string
  status: 'sent'
}

/** Test messages: sent at once and not queued, so that the answer has what the sender said. */
@Injectable()
export class TestMessages {
  constructor(
    private readonly audit: Audit,
    private readonly catalogue: Catalogue,
    private readonly limits: Limits,
    private readonly phoneSettings: PhoneSettingsReader,
    private readonly senders: Senders,
    private readonly settings: SettingsRows,
  ) {}

  /** @throws HttpError 404 `template_not_found`, 409 `sender_not_configured`, 429 `rate_limited`, 502 `sender_failed` */
  async send(key: string, to: string, asked: string, who: Pick<Entry, 'actor' | 'client'>): Promise<SentTest> {
    const { message, settings, transport, refused } = await this.prepare(key, to, asked)
    if (refused) throw refused
    const { id } = message
    const entry = { event: 'template.test_sent', ...who, target: { type: 'template', id: key } } as const
    const details = { message_id: id, to: message.to, transport }
    try {
      await this.senders.send(message, settings)
    } catch (error) {
      if (!(error instanceof SendFailed)) throw error
      const { reply } = error
      await this.note({ ...entry, outcome: 'failure', details: { ...details, reply } })
      throw authError('sender_failed', `the sender did not take the message: ${reply}`)
    }
    await this.note({ ...entry, details })
    return { message_id: id, to: message.to, transport, status: 'sent' }
  }

  /** In a short transaction: no connection is held while the message is sent. */
  private prepare(key: string, to: string, asked: string) {
    return Database.$apart(async (sql) => {
      const template = await this.catalogue.find(key, sql)
      if (!template) throw authError('template_not_found', `there is no template "${key.slice(0, 64)}"`)
      const { channel } = template
      const recipient = requireRecipient(to, channel)
      if (asked !== locale) throw invalidRequest('locale', `the template has the locale "${locale}" alone`)
      const phone = channel === 'sms' ? await this.phoneSettings.read(sql) : undefined
      if (phone) requireAllowed(recipient, phone)
      const { document: settings } = await this.settings.read(sql)
      const transport = await this.senders.transportOf(settings, channel, sql)
      if (!transport) throw authError('sender_not_configured')
      const examples = examplesOf(template)
      const common = commonValues(settings, { channel, recipient }, undefined)
      const values = { ...examples, ...common, user_id: examples['user_id']! }
      const [queued, parts] = [{ id: newId('msg_'), template: template.key, recipient }, partsOf(template)]
      const message: Message =
        phone === undefined ? composed(queued, parts, values, settings) : composedText(queued, parts, values, phone)
      return { message, settings, transport, refused: await this.count(recipient, settings, sql) }
    })
  }

  private async count(recipient: string, settings: Settings, sql: Parameters<Limits['take']>[0]) {
    return (
      (await this.limits.take(sql, 'test_message_per_recipient', recipient, settings)) ??
      (await this.limits.take(sql, 'test_messages', 'all', settings))
    )
  }

  private note(entry: Entry): Promise<void> {
    return Database.$apart((sql) => this.audit.record(entry, sql))
  }
}
