/** The metadata and the keys of OpenID Connect providers. An isolate keeps them for five minutes, as plain data. */

import type { JWKSCacheInput } from 'oauth4webapi'
import * as v from 'valibot'
import type { OAuthProvider } from '../../wire/providers.ts'
import type { ProviderClient } from './client.ts'
import { discoveryUrl, issuerOf } from './endpoints.ts'
import { ProviderFailed, providerFetch, requireSafe } from './provider-fetch.ts'

/** Milliseconds that metadata may be old: a provider that moves its keys or endpoints is followed within this time. */
const freshMs = 300_000
/** Entries that an isolate keeps: a directory of Microsoft each, beside two others. */
const mostEntries = 100

const document = v.object({
  issuer: v.string(),
  authorization_endpoint: v.string(),
  token_endpoint: v.string(),
  jwks_uri: v.string(),
  id_token_signing_alg_values_supported: v.optional(v.array(v.string())),
  authorization_response_iss_parameter_supported: v.optional(v.boolean()),
})

type Metadata = v.InferOutput<typeof document>

export interface Discovered {
  metadata: Metadata
  /** oauth4webapi fills it with the key set: fresh for five minutes, and for an unknown `kid` fetched at most once in 60 s. */
  keys: JWKSCacheInput
}

const entries = new Map<string, Discovered & { at: number }>()

/** @throws ProviderFailed where the provider does not answer, or with the metadata of another issuer. */
export async function discover(provider: OAuthProvider, client: ProviderClient): Promise<Discovered> {
  const address = discoveryUrl(provider, client)
  const found = entries.get(address)
  if (found && Math.abs(Date.now() - found.at) < freshMs) return found
  const metadata = await read(address)
  requireIssuer(metadata.issuer, provider)
  for (const endpoint of [metadata.authorization_endpoint, metadata.token_endpoint, metadata.jwks_uri]) {
    requireSafe(endpoint)
  }
  const entry = { metadata, keys: {}, at: Date.now() }
  if (entries.size >= mostEntries) entries.clear()
  entries.set(address, entry)
  return entry
}

async function read(address: string): Promise<Metadata> {
  const response = await providerFetch(address, { headers: { accept: 'application/json' } })
  if (response.status !== 200) throw new ProviderFailed(`the metadata was answered with ${response.status}`)
  const parsed = v.safeParse(document, await response.json().catch(() => undefined))
  if (!parsed.success) throw new ProviderFailed('the metadata is no document of OpenID Connect Discovery')
  return parsed.output
}

/** The issuer of Microsoft is a template for three of its directories. The `tid` of an ID token takes the template's place. */
function requireIssuer(issuer: string, provider: OAuthProvider): void {
  const own = issuerOf(provider)
  const tenant = tenantIn(issuer)
  const isOwn = provider === 'microsoft' ? tenant !== undefined : issuer.replace(/\/$/, '') === own
  if (!isOwn) throw new ProviderFailed(`the metadata of ${own} is another issuer's`)
}

/** @returns the tenant of an issuer of Microsoft, or `undefined` for another issuer. */
export function tenantIn(issuer: string): string | undefined {
  const own = `${issuerOf('microsoft')}/`
  const [, tenant] = /^([0-9a-f-]{36}|\{tenantid\})\/v2\.0$/.exec(issuer.slice(own.length)) ?? []
  return issuer.startsWith(own) ? tenant : undefined
}
