/** Makes a message of a row of the outbox: looks for the account, mints the token, fills the template in. */
import { Injectable } from '@stack/backend'
import type { Message } from '../../wire/message.ts'
import type { Settings } from '../../wire/settings.ts'
import { type TemplateParts, usesVariable } from '../../wire/templates.ts'
import { type PhoneSettings, PhoneSettingsReader } from '../providers/phone-settings.ts'
import { ProviderStates } from '../providers/rows.ts'
import type { Sql } from '../shared/sql.ts'
import { baseUrl } from '../shared/urls.ts'
import { type User, Users } from '../users/rows.ts'
import { Catalogue, type KnownTemplate, partsOf } from './catalogue.ts'
import type { QueuedMessage } from './outbox.ts'
import { fill, type Variables } from './render.ts'
import { OneTimeTokens, type Purpose } from './tokens.ts'

/** Seconds that the link of a message is valid. A link has 256 random bits, so it may live longer than a code. */
export const linkSeconds = 3_600
/** Seconds that a code is valid: the most that OWASP ASVS 6.5.5 allows. */
const codeSeconds = 600
/** Seconds in which the owner of an address may take back its change: mail of a holiday week is read. */
const undoSeconds = 7 * 86_400
const codeDigits = 6

/** Milliseconds after which a code in a text message is not sent any more: the person who waited has asked for another one. */
const longestWaitMs = 900_000

/** Template of a text message → purpose of its code. */
const codesOf = new Map<string, Purpose>([
  ['phone_otp', 'phone_sign_in'],
  ['phone_change_otp', 'phone_change'],
])

/** The token of a message: what it proves, where its link leads, and the variable that has the link. */
const tokensOf: Partial<Record<string, { purpose: Purpose; path: string; variable: string; seconds: number }>> = {
  confirm_email: {
    purpose: 'confirm_email',
    path: '/auth/email/confirm',
    variable: 'action_url',
    seconds: linkSeconds,
  },
  reset_password: {
    purpose: 'reset_password',
    path: '/auth/password/reset',
    variable: 'action_url',
    seconds: linkSeconds,
  },
  email_change_confirm: {
    purpose: 'email_change',
    path: '/auth/email/change',
    variable: 'action_url',
    seconds: linkSeconds,
  },
  email_change_notice: {
    purpose: 'email_change_undo',
    path: '/auth/email/undo',
    variable: 'undo_url',
    seconds: undoSeconds,
  },
}

@Injectable()
export class Preparation {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly phoneSettings: PhoneSettingsReader,
    private readonly providers: ProviderStates,
    private readonly tokens: OneTimeTokens,
    private readonly users: Users,
  ) {}

  /** @param sql of a short transaction. @returns `undefined` where there is no reason for the message any more. */
  async prepare(message: QueuedMessage, settings: Settings, sql: Sql): Promise<Message | undefined> {
    const user = await this.userOf(message, sql)
    if (!isWanted(message, user)) return undefined
    if (
      message.template === 'existing_account' &&
      user &&
      settings.confirm_email_required &&
      !user.email_confirmed_at
    ) {
      return this.prepare(await this.contested(message, user.id, sql), settings, sql)
    }
    const common = { ...commonValues(settings, message, user), ...message.variables }
    if (message.channel === 'sms') return this.prepareText(message, common, sql)
    const template = await this.catalogue.find(message.template, sql)
    if (!template) return undefined
    const variables = { ...common, ...(await this.action(message, user, settings, sql)) }
    return composed(message, partsOf(template), variables, settings)
  }

  /**
   * Two people have signed up with one address, which none of them has proved. The password of the first and the links of that sign-up
   * go, and the mail lets the owner of the address choose a password.
   */
  private async contested(message: QueuedMessage, userId: string, sql: Sql): Promise<QueuedMessage> {
    await sql`delete from auth.password_credentials where user_id = ${userId}`
    await sql`
      update auth.one_time_tokens set consumed_at = now()
      where user_id = ${userId} and consumed_at is null and purpose = 'confirm_email'`
    return { ...message, template: 'reset_password', user_id: userId }
  }

  private async prepareText(message: QueuedMessage, common: Variables, sql: Sql): Promise<Message | undefined> {
    const phone = await this.phoneSettings.read(sql)
    const purpose = codesOf.get(message.template)
    if (purpose && !(await this.providers.isEnabled('phone', sql))) return undefined
    const chosen = purpose === 'phone_sign_in' ? await this.chosenText(phone.template_key, sql) : undefined
    const template = chosen ?? (await this.catalogue.find(message.template, sql))
    if (!template) return undefined
    const variables = { ...common, ...(purpose && (await this.code(purpose, message, phone, sql))) }
    return composedText(message, partsOf(template), variables, phone)
  }

  private async code(
    purpose: Purpose,
    { user_id, recipient }: QueuedMessage,
    { otp_length: digits, otp_ttl_seconds: seconds }: PhoneSettings,
    sql: Sql,
  ): Promise<Variables> {
    const proof = { purpose, userId: user_id, target: recipient }
    const { code } = await this.tokens.issue(proof, seconds, { seconds, digits }, sql)
    return { code, expires_minutes: String(Math.ceil(seconds / 60)) }
  }

  /** The template that the phone settings name for sign-in. @returns `undefined` for one that is no text with a code. */
  private async chosenText(key: string, sql: Sql): Promise<KnownTemplate | undefined> {
    const template = await this.catalogue.find(key, sql)
    const isText = template?.channel === 'sms' && usesVariable(partsOf(template).body, 'code')
    return isText ? template : undefined
  }

  private userOf({ user_id, recipient, channel }: QueuedMessage, sql: Sql): Promise<User | undefined> {
    if (user_id !== null) return this.users.byId(user_id, sql)
    return channel === 'email' ? this.users.byEmail(recipient, sql) : Promise.resolve(undefined)
  }

  private async action(
    { template, recipient }: QueuedMessage,
    user: User | undefined,
    settings: Settings,
    sql: Sql,
  ): Promise<Variables> {
    const base = linkBase(settings)
    const known = tokensOf[template]
    if (!known) return { sign_in_url: base, revoke_url: base }
    const proof = { purpose: known.purpose, userId: user?.id ?? null, target: recipient }
    const { token, code } = await this.tokens.issue(
      proof,
      known.seconds,
      { seconds: codeSeconds, digits: codeDigits },
      sql,
    )
    const minutes = { expires_minutes: String(known.seconds / 60), code_minutes: String(codeSeconds / 60) }
    return { [known.variable]: `${base}${known.path}?token=${token}`, code, ...minutes }
  }
}

/** A mail of a filled template. */
export function composed(
  { id, template, recipient }: Pick<QueuedMessage, 'id' | 'template' | 'recipient'>,
  parts: TemplateParts,
  variables: Variables,
  settings: Settings,
): Message {
  const from = settings.mail?.from ?? `no-reply@${hostOf(settings)}`
  const reply_to = settings.mail?.reply_to ?? null
  return { id, template, channel: 'email', to: recipient, from, reply_to, ...fill(parts, variables) }
}

/** A text message of a filled template. */
export function composedText(
  { id, template, recipient }: Pick<QueuedMessage, 'id' | 'template' | 'recipient'>,
  parts: TemplateParts,
  variables: Variables,
  { from }: PhoneSettings,
): Message {
  const { text } = fill(parts, variables)
  return { id, template, channel: 'sms', to: recipient, from: from ?? '', reply_to: null, subject: '', text, html: '' }
}

/** Whether the message still has a reason: since it was queued, the account may have changed, or there never was one. */
function isWanted({ template, recipient, user_id, created_at }: QueuedMessage, user: User | undefined): boolean {
  if (codesOf.has(template) && Date.now() - created_at.getTime() > longestWaitMs) return false
  if (user_id === null && (template === 'reset_password' || template === 'existing_account'))
    return user !== undefined && user.disabled_at === null
  if (user_id !== null && (!user || user.disabled_at)) return false
  return template !== 'confirm_email' || (user?.email === recipient && user.email_confirmed_at === null)
}

/** The address that links in messages begin with (source, "Settings document"). */
function linkBase({ site_url }: Settings): string {
  if (site_url === undefined) return baseUrl()
  const { origin, pathname } = new URL(site_url) // a query or a fragment would swallow the path of a link
  return `${origin}${pathname}`.replace(/\/+$/, '')
}

function hostOf(settings: Settings): string {
  return new URL(linkBase(settings)).hostname
}

/** The name of the project in messages and pages. */
export function siteName(settings: Settings): string {
  return settings.site_name ?? hostOf(settings)
}

/** Values of the variables that every template may use. */
export function commonValues(
  settings: Settings,
  { channel, recipient }: Pick<QueuedMessage, 'channel' | 'recipient'>,
  user: User | undefined,
): Variables {
  return {
    site_name: siteName(settings),
    site_url: linkBase(settings),
    email: user?.email ?? (channel === 'email' ? recipient : ''),
    user_id: user?.id ?? '',
    locale: 'en',
    support_email: settings.support_email ?? '',
  }
}
