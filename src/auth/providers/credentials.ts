/** The secrets that the stack proves itself with at providers: sealed at rest, and never part of an answer. */
import { Injectable } from '@stack/backend'
import { open, seal } from '../shared/seal.ts'
import { inRequest, type Sql } from '../shared/sql.ts'

export type ProviderName = 'google' | 'apple' | 'microsoft' | 'github' | 'email' | 'phone'

/** A secret in the clear. It must not be logged, stored or answered. */
export type OpenCredential =
  | { kind: 'oauth_client_secret'; client_secret: string }
  /** `private_key` is PKCS#8 of a P-256 key, in PEM. */
  | { kind: 'signing_key'; team_id: string; key_id: string; private_key: string }
  /** The password of an SMTP account, or the token of an HTTP gateway. */
  | { kind: 'sender_secret'; secret: string }

/** What a sealed credential belongs to: moved to another row, it does not open. */
const placeOf = (provider: string, name: string) => `provider credential ${provider} ${name}`

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
}
