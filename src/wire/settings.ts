/** The settings document of an environment (contract, "Settings document"; contract 9.8). */
import { type DeviceApp, deviceAppsReason, isDeviceApps } from './device-apps.ts'
import type { FieldError } from './envelope.ts'
import { isMailAddress } from './mail-address.ts'
import { isPrivateHost } from './network.ts'

export interface Settings {
  password_min_length?: number
  password_max_length?: number
  confirm_email_required?: boolean
  site_url?: string
  /** `false` leaves making users to the management surface. */
  sign_up_enabled?: boolean
  /** Days that entries of the audit trail are kept. */
  audit_retention_days?: number
  /** Days that a signing key signs before it is rotated. */
  signing_key_rotation_days?: number
  /** Name of the project in messages and pages. The default is the host of `site_url`. */
  site_name?: string
  /** The address that messages name for questions. */
  support_email?: string
  /** How mail leaves the stack. The default is none: the local stack captures mail, and every other one keeps it queued. */
  mail?: MailSettings
  /** Addresses below which an application may be sent back to after a sign-in with a provider. */
  redirect_allow_list?: string[]
  /** Origins that may use passkeys beside those of `site_url` and the stack: other sites below its domain, and Android applications. */
  passkey_origins?: string[]
  /** Address of a range service of breached passwords, which gets 5 digits of a SHA-1. The default is no such check. */
  breach_check_url?: string
  /** Applications whose devices may be attested. The default is none. */
  device_apps?: DeviceApp[]
  /** Limits that differ from their defaults. */
  rate_limits?: Partial<Record<LimitName, AttemptLimit>>
}

/** The sender of a stack's mail. */
export type MailSettings = { from: string; reply_to?: string } & (
  | { transport: 'console' }
  /** `tls` is TLS from the first byte (port 465), `starttls` upgrades (587), `none` is for loopback and private networks. */
  | {
      transport: 'smtp'
      host: string
      port: number
      security?: 'tls' | 'starttls' | 'none'
      username?: string
      credential_ref?: string
    }
  /** Posts each message as JSON to the address, with the credential as a Bearer token. */
  | { transport: 'http'; url: string; credential_ref?: string }
)

/** How many attempts fit into a period, and how fast they come back: a limit refills at a steady rate. */
export interface AttemptLimit {
  attempts: number
  seconds: number
}

/**
 * Each limit of the auth module, by what it counts. An address limit counts a network: an IPv4 address or an IPv6 /64. The phone
 * settings `resend_seconds` and `per_number_per_day` take the place of the defaults of `sms_interval` and `sms_per_recipient`.
 */
export const limitsDefaults = {
  sign_in_per_account: { attempts: 5, seconds: 900 },
  sign_in_per_account_everywhere: { attempts: 100, seconds: 3600 },
  sign_in_per_address: { attempts: 10, seconds: 60 },
  sign_up_per_address: { attempts: 10, seconds: 3600 },
  second_factor_per_account: { attempts: 10, seconds: 900 },
  provider_sign_in_per_address: { attempts: 30, seconds: 60 },
  refresh_per_session: { attempts: 60, seconds: 60 },
  mail_per_recipient: { attempts: 3, seconds: 60 },
  mail_per_recipient_daily: { attempts: 50, seconds: 86_400 },
  mail_per_address: { attempts: 30, seconds: 3600 },
  message_per_recipient: { attempts: 20, seconds: 3600 },
  messages: { attempts: 10_000, seconds: 3600 },
  test_message_per_recipient: { attempts: 5, seconds: 300 },
  test_messages: { attempts: 10, seconds: 60 },
  passkey_options_per_address: { attempts: 30, seconds: 60 },
  device_enrolment_per_user: { attempts: 10, seconds: 3600 },
  code_per_recipient: { attempts: 10, seconds: 900 },
  sms_interval: { attempts: 1, seconds: 60 },
  sms_per_recipient: { attempts: 10, seconds: 86_400 },
  sms_per_address: { attempts: 20, seconds: 3600 },
  sms_per_prefix: { attempts: 200, seconds: 3600 },
} as const satisfies Record<string, AttemptLimit>

export type LimitName = keyof typeof limitsDefaults

/** Values that apply to absent fields. They are never written into the document. */
export const settingsDefaults = {
  password_min_length: 8,
  password_max_length: 64,
  confirm_email_required: false,
}

/** Entries of `redirect_allow_list`: each sign-in with a provider compares with all of them. */
const mostRedirects = 100

/** Entries of `passkey_origins`: each use of a passkey compares with all of them. */
const mostOrigins = 20

/** Largest value of both length fields, in code points. Contract, "Settings document", sets it. */
const longestPassword = 64

const forms: Record<keyof Settings, { isValid: (value: unknown) => boolean; reason: string }> = {
  password_min_length: {
    isValid: isLength,
    reason: `password_min_length must be a whole number from 1 to ${longestPassword}`,
  },
  password_max_length: {
    isValid: isLength,
    reason: 'password_max_length must be between password_min_length and 64',
  },
  confirm_email_required: {
    isValid: (value) => typeof value === 'boolean',
    reason: 'confirm_email_required must be true or false',
  },
  site_url: { isValid: isSite, reason: 'site_url must be an http or https URL' },
  sign_up_enabled: { isValid: (value) => typeof value === 'boolean', reason: 'sign_up_enabled must be true or false' },
  audit_retention_days: {
    isValid: (value) => isWhole(value, 7, 3650),
    reason: 'audit_retention_days must be a whole number from 7 to 3650',
  },
  signing_key_rotation_days: {
    isValid: (value) => isWhole(value, 1, 3650),
    reason: 'signing_key_rotation_days must be a whole number from 1 to 3650',
  },
  site_name: {
    isValid: (value) => isLine(value, 100),
    reason: 'site_name must be one line of at most 100 characters',
  },
  support_email: { isValid: isMailbox, reason: 'support_email must be an email address' },
  mail: {
    isValid: isMail,
    reason:
      'mail must be { "from", "reply_to"?, "transport": "console" }, or with "transport": "smtp" also "host", "port", "security"?, "username"?, "credential_ref"?, or with "transport": "http" also "url", "credential_ref"?. "security": "none" is for a host of this machine or of a private network',
  },
  redirect_allow_list: {
    isValid: isRedirects,
    reason: `redirect_allow_list must be a list of at most ${mostRedirects} absolute URLs without a query or a fragment`,
  },
  passkey_origins: {
    isValid: isOrigins,
    reason: `passkey_origins must be a list of at most ${mostOrigins} https origins, or android:apk-key-hash: with 43 characters of base64url`,
  },
  breach_check_url: {
    isValid: isGateway,
    reason: 'breach_check_url must be an https URL, or an http URL of a private network',
  },
  device_apps: { isValid: isDeviceApps, reason: deviceAppsReason },
  rate_limits: {
    isValid: isLimits,
    reason: `rate_limits must be an object of ${Object.keys(limitsDefaults).join(', ')}, each { "attempts": 1 to 10000, "seconds": 1 to 86400 }`,
  },
}

export interface ReadSettings {
  settings: Settings
  /** Names of unknown fields, which are not stored. */
  ignored: string[]
  errors: FieldError[]
}

/** Checks a whole document. It adds no default to it. */
export function readSettings(document: unknown): ReadSettings {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    return { settings: {}, ignored: [], errors: [{ path: 'body', reason: 'the settings must be an object' }] }
  }
  const settings: Record<string, unknown> = {}
  const ignored: string[] = []
  const errors: FieldError[] = []
  for (const [name, value] of Object.entries(document)) {
    const form = Object.hasOwn(forms, name) ? forms[name as keyof Settings] : undefined
    if (!form) ignored.push(name)
    else if (form.isValid(value)) settings[name] = value
    else errors.push({ path: name, reason: form.reason })
  }
  const known = settings as Settings
  const least = known.password_min_length ?? settingsDefaults.password_min_length
  const most = known.password_max_length ?? settingsDefaults.password_max_length
  if (errors.length === 0 && most < least) {
    errors.push({ path: 'password_max_length', reason: forms.password_max_length.reason })
  }
  return { settings: known, ignored, errors }
}

function isLength(value: unknown): boolean {
  return isWhole(value, 1, longestPassword)
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most
}

function isLimits(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.entries(value).every(([name, limit]) => {
    if (!Object.hasOwn(limitsDefaults, name) || typeof limit !== 'object' || limit === null) return false
    const { attempts, seconds, ...others } = limit as Record<string, unknown>
    return Object.keys(others).length === 0 && isWhole(attempts, 1, 10_000) && isWhole(seconds, 1, 86_400)
  })
}

function isLine(value: unknown, most: number): boolean {
  return typeof value === 'string' && value.isWellFormed() && /^[^\x00-\x1f\x7f]+$/.test(value) && value.length <= most
}

/** An address, or a name with an address in angle brackets. */
function isMailbox(value: unknown): boolean {
  if (!isLine(value, 320)) return false
  const [, inBrackets] = /^[^<>",]*<([^<>]+)>$/.exec(value as string) ?? []
  return isMailAddress(inBrackets ?? (value as string))
}

function isMail(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const { transport, from, reply_to, ...others } = value as Record<string, unknown>
  const form = typeof transport === 'string' && Object.hasOwn(mailForms, transport) ? mailForms[transport] : undefined
  if (!form || !isMailbox(from) || (reply_to !== undefined && !isMailbox(reply_to))) return false
  // a password and the links of mails must not cross the internet in the clear
  if (others['security'] === 'none' && !isPrivateHost(String(others['host']))) return false
  const isKnown = Object.entries(others).every(([name, one]) => Object.hasOwn(form, name) && form[name]!.isValid(one))
  return isKnown && Object.entries(form).every(([name, { isRequired }]) => !isRequired || Object.hasOwn(others, name))
}

interface MailField {
  isValid: (value: unknown) => boolean
  isRequired?: true
}

const credentialRef: MailField = {
  isValid: (value) => typeof value === 'string' && /^[a-z0-9][a-z0-9._-]{0,62}$/.test(value),
}

/** The fields of each transport beside those of all. */
const mailForms: Record<string, Record<string, MailField>> = {
  console: {},
  smtp: {
    host: { isValid: (value) => typeof value === 'string' && /^[A-Za-z0-9.:_-]{1,253}$/.test(value), isRequired: true },
    port: { isValid: (value) => isWhole(value, 1, 65_535), isRequired: true },
    security: { isValid: (value) => value === 'tls' || value === 'starttls' || value === 'none' },
    username: { isValid: (value) => isLine(value, 320) },
    credential_ref: credentialRef,
  },
  http: { url: { isValid: isGateway, isRequired: true }, credential_ref: credentialRef },
}

function isRedirects(value: unknown): boolean {
  if (!Array.isArray(value) || value.length > mostRedirects) return false
  return value.every(
    (one) =>
      isLine(one, 2_000) && /^[a-z][a-z0-9+.-]*:\/\/[^?#\s]*$/i.test(one) && !/^(?:javascript|data|file):/i.test(one),
  )
}

function isOrigins(value: unknown): boolean {
  if (!Array.isArray(value) || value.length > mostOrigins) return false
  return value.every((one) => {
    if (typeof one !== 'string' || one.length > 300) return false
    if (/^android:apk-key-hash:[A-Za-z0-9_-]{43}$/.test(one)) return true
    return /^https:\/\/[^*]+$/.test(one) && URL.canParse(one) && new URL(one).origin === one
  })
}

/** Messages and credentials go there: only a private network may carry them in the clear. */
function isGateway(value: unknown): boolean {
  if (!isSite(value)) return false
  const { protocol, hostname } = new URL(value as string)
  return protocol === 'https:' || isPrivateHost(hostname.replace(/^\[|\]$/g, ''))
}

function isSite(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    value.isWellFormed() &&
    URL.canParse(value) &&
    /^https?:$/.test(new URL(value).protocol)
  )
}
