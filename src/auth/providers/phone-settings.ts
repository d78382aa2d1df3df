/** The settings of sign-in with a phone number: how codes are sent, and to whom. */
import { Injectable } from '@stack/backend'
import type { FieldError } from '../../wire/envelope.ts'
import { Faults, isObject, unknownReason } from '../../wire/faults.ts'
import { isLoopback } from '../../wire/loopback.ts'
import { recordName } from '../../wire/providers.ts'
import { authError } from '../shared/errors.ts'
import { inRequest, type Sql } from '../shared/sql.ts'
import { Providers } from './rows.ts'

export interface PhoneSettings {
  /** How messages leave the stack. The default is none: no code is sent. `http` posts each message to `url`. */
  driver?: 'console' | 'http'
  /** Address of the gateway, for the driver `http` alone. */
  url?: string
  /** Number or name that messages are sent from. */
  from?: string
  /** Name of the credential of `phone` that the gateway gets as a Bearer token. */
  credential_ref?: string
  /** Digits of a code. */
  otp_length: number
  /** Seconds for which a code is good. */
  otp_ttl_seconds: number
  /** Wrong codes after which a code is worth nothing. */
  max_attempts: number
  /** Seconds between two messages to one number. */
  resend_seconds: number
  /** Messages to one number in 24 hours. */
  per_number_per_day: number
  /** Beginnings of the numbers that messages are sent to. `+` is every number. */
  allowed_prefixes: string[]
  template_key: string
}

/** Values of absent fields. They are never stored. */
const defaults = {
  otp_length: 6,
  otp_ttl_seconds: 300,
  max_attempts: 5,
  resend_seconds: 60,
  per_number_per_day: 10,
  allowed_prefixes: ['+'],
  template_key: 'phone_otp',
} satisfies PhoneSettings

/** Prefixes of a list: there are fewer than 300 country codes. */
const mostPrefixes = 300

/** Reads the settings for the feature that sends codes. */
@Injectable()
export class PhoneSettingsReader {
  constructor(private readonly providers: Providers) {}

  /** @returns the stored settings, with the defaults for what they leave out. */
  async read(sql: Sql = inRequest): Promise<PhoneSettings> {
    return phoneSettings((await this.providers.read('phone', sql)).config)
  }
}

/**
 * A caller chooses the number, and the project pays for each message. So the prefixes hold for codes, for messages of the project and for
 * test messages.
 *
 * @throws HttpError 422 `phone_not_allowed`
 */
export function requireAllowed(phone: string, { allowed_prefixes }: Pick<PhoneSettings, 'allowed_prefixes'>): void {
  if (allowed_prefixes.length > 0 && !allowed_prefixes.some((prefix) => phone.startsWith(prefix)))
    throw authError('phone_not_allowed')
}

/** @param stored the document of the provider's row. */
export function phoneSettings(stored: object): PhoneSettings {
  return { ...defaults, ...stored }
}

type Form = (value: unknown) => string | undefined

const whole =
  (least: number, most: number): Form =>
  (value) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most
      ? undefined
      : `must be a whole number from ${least} to ${most}`

const matching =
  (pattern: RegExp, reason: string): Form =>
  (value) =>
    typeof value === 'string' && pattern.test(value) ? undefined : reason

const forms: Record<keyof PhoneSettings, Form> = {
  driver: matching(/^(?:console|http)$/, 'must be "console" or "http"'),
  url: gatewayFault,
  from: matching(/^(?! )[A-Za-z0-9 +._-]{1,32}(?<! )$/, 'must be a number or a name of 1 to 32 characters'),
  credential_ref: matching(recordName, 'must be the name of a credential'),
  otp_length: whole(4, 10),
  otp_ttl_seconds: whole(30, 600), // OWASP ASVS 6.5.5 allows 10 minutes
  max_attempts: whole(1, 10),
  resend_seconds: whole(1, 3_600),
  per_number_per_day: whole(1, 1_000),
  allowed_prefixes: (value) => {
    const isList = Array.isArray(value) && value.length > 0 && value.length <= mostPrefixes
    const isValid = isList && value.every((one) => typeof one === 'string' && /^\+\d{0,14}$/.test(one))
    return isValid ? undefined : `must be a list of 1 to ${mostPrefixes} beginnings of numbers, like "+49"`
  },
  template_key: matching(/^[a-z][a-z0-9_]{0,62}$/, 'must be the key of a template'),
}

/** Checks a whole document. @returns the fields that it has, without defaults. */
export function readPhoneSettings(json: unknown): { settings: Partial<PhoneSettings>; faults: FieldError[] } {
  const faults = new Faults()
  if (!isObject(json)) {
    faults.add([], 'the settings must be an object')
    return { settings: {}, faults: faults.list }
  }
  for (const [name, value] of Object.entries(json)) {
    if (faults.isFull) break
    const form = Object.hasOwn(forms, name) ? forms[name as keyof PhoneSettings] : undefined
    const reason = form ? form(value) : unknownReason(name, Object.keys(forms))
    if (reason) faults.add([name], reason)
  }
  const { driver, url } = json
  if (driver === undefined) faults.add(['driver'], 'is missing: it is "console" or "http"')
  if (driver === 'http' && url === undefined) faults.add(['url'], 'is missing: the driver "http" posts messages to it')
  if (driver === 'console' && url !== undefined) faults.add(['url'], 'goes with the driver "http" alone')
  return { settings: json as Partial<PhoneSettings>, faults: faults.list }
}

/** Messages hold codes, so they leave the machine encrypted. */
function gatewayFault(value: unknown): string | undefined {
  const reason = 'must be an https URL, or an http URL of a loopback address'
  if (typeof value !== 'string' || !/^https?:\/\/[\x21-\x7e]{1,2000}$/.test(value) || !URL.canParse(value))
    return reason
  const { protocol, hostname, username, password } = new URL(value)
  if (username || password) return 'holds a user name or a password: write it as a credential'
  return protocol === 'https:' || isLoopback(hostname) ? undefined : reason
}
