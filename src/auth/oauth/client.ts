import type { Origin } from '../sessions/rows.ts'

export type OAuthProvider = 'google' | 'apple' | 'microsoft' | 'github'

/** A client record of a provider (contract 9.5). */
export interface ProviderClient {
  key: string
  kind: 'browser' | 'native'
  platform: 'web' | 'ios' | 'android'
  application_key: string
  credential_ref: string | null
  fields: Record<string, unknown>
}

/** The part of the record that a session keeps. */
export const originOf = (provider: OAuthProvider, client: ProviderClient): Origin => ({
  provider,
  client_key: client.key,
  platform: client.platform,
  application_key: client.application_key,
})
