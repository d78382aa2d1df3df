/** One-time passwords of authenticator apps (RFC 6238): SHA-1, 6 digits, 30 seconds, as every such app takes them. */
import { Secret, TOTP } from 'otpauth'

/** Seconds of a time step. RFC 6238 section 5.2 recommends them, and apps assume them. */
const period = 30
/** Bytes of a shared secret: as many as the hash has (RFC 4226 section 4, R6). */
const secretBytes = 20

export interface Enrolment {
  /** Base32, for people who type it. */
  secret: string
  /** `otpauth://totp/…`, which an app reads from the QR code. */
  uri: string
}

export function newEnrolment(issuer: string, account: string): Enrolment {
  const secret = new Secret({ size: secretBytes })
  const totp = new TOTP({ issuer, label: account, secret, period })
  return { secret: secret.base32, uri: totp.toString() }
}

/**
 * The time step that a code is of: the current one, the one before or the one after, for clocks that differ.
 * @param now milliseconds since 1970. @returns `undefined` for a wrong code.
 */
export function stepOf(secret: string, code: string, now: number = Date.now()): number | undefined {
  const totp = new TOTP({ secret: Secret.fromBase32(secret), period })
  const delta = totp.validate({ token: code, timestamp: now, window: 1 })
  return delta === null ? undefined : Math.floor(now / 1000 / period) + delta
}
