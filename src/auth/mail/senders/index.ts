/** The senders of a stack, by channel: what the settings name, or the local stack's mailbox. */
import { Database, Injectable, Log } from '@stack/backend'
import type { Message } from '../../../wire/message.ts'
import type { ProviderName } from '../../../wire/providers.ts'
import type { MailSettings, Settings } from '../../../wire/settings.ts'
import type { Channel } from '../../../wire/templates.ts'
import { Credentials } from '../../providers/credentials.ts'
import { PhoneSettingsReader } from '../../providers/phone-settings.ts'
import { optionalBinding } from '../../shared/bindings.ts'
import type { Sql } from '../../shared/sql.ts'
import { SendFailed } from './failure.ts'
import { sendByHttp } from './http.ts'

type Transport = MailSettings['transport'] | 'mailbox'

@Injectable()
export class Senders {
  constructor(
    private readonly credentials: Credentials,
    private readonly phoneSettings: PhoneSettingsReader,
  ) {}

  /** @returns the name of the transport, or `undefined` where nothing can be sent. */
  async transportOf({ mail }: Settings, channel: Channel, sql: Sql): Promise<Transport | undefined> {
    const captured = mailbox() === undefined ? undefined : 'mailbox'
    if (channel === 'email') return mail?.transport ?? captured
    const { driver } = await this.phoneSettings.read(sql)
    return driver === 'http' ? driver : (captured ?? driver)
  }

  /** Sends one message. No connection of the database is held meanwhile. @throws SendFailed */
  async send(message: Message, { mail }: Settings): Promise<void> {
    if (message.channel === 'sms') return this.sendText(message)
    const captured = mailbox()
    if (!mail) {
      if (captured === undefined) throw new SendFailed('no sender is configured: set "mail" in the settings', false)
      return sendByHttp(message, captured, undefined)
    }
    if (mail.transport === 'console') {
      const { id, to, subject, text } = message
      return Log.info('mail', { message_id: id, to, subject, text })
    }
    const secret = mail.credential_ref === undefined ? undefined : await this.secret('email', mail.credential_ref)
    if (mail.transport === 'http') return sendByHttp(message, mail.url, secret)
    const { sendBySmtp } = await import('./smtp.ts')
    return sendBySmtp(message, mail, secret)
  }

  /** The driver `console` is the local stack's mailbox where there is one. Elsewhere it logs the message with its code. */
  private async sendText(message: Message): Promise<void> {
    const { driver, url, credential_ref } = await Database.$apart((sql) => this.phoneSettings.read(sql))
    if (driver === 'http' && url !== undefined) {
      const secret = credential_ref === undefined ? undefined : await this.secret('phone', credential_ref)
      return sendByHttp(message, url, secret)
    }
    const captured = mailbox()
    if (captured !== undefined) return sendByHttp(message, captured, undefined)
    if (driver !== 'console')
      throw new SendFailed('no sender of text messages is configured: set "driver" in the settings of phone', false)
    const { id, to, text } = message
    Log.info('text message', { message_id: id, to, text })
  }

  /** @throws SendFailed where there is no such credential. */
  async secret(provider: ProviderName, name: string): Promise<string> {
    const credential = await Database.$apart((sql) => this.credentials.open(provider, name, sql))
    if (credential?.kind === 'sender_secret') return credential.secret
    throw new SendFailed(`the credential "${name}" of the sender is not stored`, false)
  }
}

/** The address of the local stack's mailbox. No other stack has that binding. */
const mailbox = () => optionalBinding('STACK_MAILBOX_URL')
