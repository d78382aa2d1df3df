/** The secrets that the stack proves itself with at providers: sealed at rest, and never part of an answer. */
import { Injectable } from '@stack/backend'
import type { CredentialDocument } from '../../wire/provider-credentials.ts'
import type { ProviderName } from '../../wire/providers.ts'
import { authenticate, open, seal } from '../shared/seal.ts'
import { inRequest, type Sql } from '../shared/sql.ts'

/**
 * A secret in the clear. It must not be logged, stored or answered. `private_key` of a `signing_key` is PKCS#8 of a P-256 key in PEM,
 * and a `sender_secret` is the password of an SMTP account or the token of an HTTP gateway.
 */
export type OpenCredential = CredentialDocument

/** The row that a sealed credential belongs to: moved to another one, it does not open. */
export const placeOf = (provider: string, name: string) => `provider credential ${provider} ${name}`

@Injectable()
export class Credentials {
  /** @returns `undefined` where there is none of that name. */
  async open(provider: ProviderName, name: string, sql: Sql = inRequest): Promise<OpenCredential | undefined> {
    const [row] = await sql<{ sealed: string }>`
      select sealed from auth.provider_credentials where provider = ${provider} and name = ${name}`
    return row && (JSON.parse(await open(row.sealed, placeOf(provider, name))) as OpenCredential)
  }

  /** @returns what the row `auth.provider_credentials.sealed` of this provider and name holds. */
  seal(provider: ProviderName, name: string, credential: OpenCredential): Promise<string> {
    return seal(JSON.stringify(credential), placeOf(provider, name))
  }

  /**
   * Tells one secret of a provider from another. It is an HMAC under a key outside the database, so that a dump does not help to
   * guess the secret.
   *
   * @returns 16 hexadecimal digits.
   */
  async fingerprint(provider: ProviderName, credential: OpenCredential): Promise<string> {
    const text = `provider credential\0${provider}\0${JSON.stringify(Object.entries(credential).sort())}`
    const digest = await authenticate('PASSWORD_PEPPER', new TextEncoder().encode(text))
    return Array.from(digest.subarray(0, 8), (byte) => byte.toString(16).padStart(2, '0')).join('')
  }
}
