/** The settings of sign-in with a phone number: how codes are sent, and to whom. */
import { Injectable } from '@stack/backend'
import { inRequest, type Sql } from '../shared/sql.ts'

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

/** Reads the settings for the feature that sends codes. */
@Injectable()
export class PhoneSettingsReader {
  /** @returns the stored settings, with the defaults for what they leave out. */
  async read(sql: Sql = inRequest): Promise<PhoneSettings> {
    const [row] = await sql<{ config: object }>`select config from auth.providers where name = 'phone'`
    return { ...defaults, ...row!.config }
  }
}
