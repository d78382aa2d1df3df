/** Makes a message of a row of the outbox: looks for the account, mints the token, fills the template in. */
import { Injectable } from '@stack/backend'
import type { Message } from '../../wire/message.ts'
import type { Settings } from '../../wire/settings.ts'
import type { Sql } from '../shared/sql.ts'
import { baseUrl } from '../shared/urls.ts'
import { type User, Users } from '../users/rows.ts'
import type { QueuedMessage } from './outbox.ts'
import { fill, type Parts, type Variables } from './render.ts'
import { type Template, type TemplateKey, templates } from './templates.ts'
import { OneTimeTokens, type Purpose } from './tokens.ts'

/** Seconds that the link of a message is valid. A link has 256 random bits, so it may live longer than a code. */
export const linkSeconds = 3_600
/** Seconds that a code is valid: the most that OWASP ASVS 6.5.5 allows. */
const codeSeconds = 600
/** Seconds in which the owner of an address may take back its change: mail of a holiday week is read. */
const undoSeconds = 7 * 86_400
const codeDigits = 6

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
    private readonly tokens: OneTimeTokens,
    private readonly users: Users,
  ) {}

  /** @param sql of a short transaction. @returns `undefined` where there is no reason for the message any more. */
  async prepare(message: QueuedMessage, settings: Settings, sql: Sql): Promise<Message | undefined> {
    const { id, template, channel, recipient } = message
    const parts = await this.partsOf(template, sql)
    if (!parts) return undefined
    const user = await this.userOf(message, sql)
    if (!isWanted(message, user)) return undefined
    const variables = {
      ...commonValues(settings, recipient, user),
      ...message.variables,
      ...(await this.action(message, user, settings, sql)),
    }
    const { subject, html, text } = fill(parts, variables)
    const from = settings.mail?.from ?? `no-reply@${hostOf(settings)}`
    return {
      id,
      template,
      channel,
      to: recipient,
      from,
      reply_to: settings.mail?.reply_to ?? null,
      subject,
      text,
      html,
    }
  }

  /** The template as it was changed, or the built-in one. */
  private async partsOf(key: string, sql: Sql): Promise<Parts | undefined> {
    const [changed] = await sql<
      Omit<Parts, 'channel'>
    >`select subject, body, body_text from auth.templates where key = ${key}`
    const builtIn: Template | undefined = Object.hasOwn(templates, key) ? templates[key as TemplateKey] : undefined
    return builtIn && { ...builtIn, ...changed }
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

/** Whether the message still has a reason: since it was queued, the account may have changed, or there never was one. */
function isWanted({ template, recipient, user_id }: QueuedMessage, user: User | undefined): boolean {
  if (user_id === null && (template === 'reset_password' || template === 'existing_account'))
    return user !== undefined && user.disabled_at === null
  if (user_id !== null && (!user || user.disabled_at)) return false
  return template !== 'confirm_email' || (user?.email === recipient && user.email_confirmed_at === null)
}

/** The address that links in messages begin with (source, "Settings document"). */
function linkBase({ site_url }: Settings): string {
  return site_url?.replace(/\/+$/, '') ?? baseUrl()
}

function hostOf(settings: Settings): string {
  return new URL(linkBase(settings)).hostname
}

function commonValues(settings: Settings, recipient: string, user: User | undefined): Variables {
  return {
    site_name: settings.site_name ?? hostOf(settings),
    site_url: linkBase(settings),
    email: user?.email ?? recipient,
    user_id: user?.id ?? '',
    locale: 'en',
    support_email: settings.support_email ?? '',
  }
}
