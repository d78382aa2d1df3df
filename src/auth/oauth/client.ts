import type { OAuthProvider } from '../../wire/providers.ts'
import type { Origin } from '../sessions/rows.ts'

/** A client record of a provider (contract 9.5). */
export interface ProviderClient {
  key: string
  kind: 'browser' | 'native'
  platform: 'web' | 'ios' | 'android'
  application_key: string
  credential_ref: string | null
  fields: Record<string, unknown>
  /** Scopes that the provider's configuration adds to those that a sign-in needs. */
  scopes: string[]
}

/** The part of the record that a session keeps. */
export const originOf = (provider: OAuthProvider, client: ProviderClient): Origin => ({
  provider,
  client_key: client.key,
  platform: client.platform,
  application_key: client.application_key,
})
