/** The relying party of WebAuthn: the domain that passkeys belong to, and the origins that may use them. */
import { Secrets } from '@stack/backend'
import { isLoopback } from '../../wire/loopback.ts'
import type { Settings } from '../../wire/settings.ts'
import { base64url } from '../shared/base64url.ts'

export interface RelyingParty {
  /** The domain. A passkey that was made for one domain works at no other. */
  id: string
  /** Shown by browsers. */
  name: string
  /** Compared with the origin that the browser has signed. */
  origins: string[]
}

/** The domain is that of the setting `site_url`, or else of the stack itself. */
export function relyingParty({ site_url, site_name, passkey_origins = [] }: Settings): RelyingParty {
  const sites = [site_url, Secrets.get('STACK_URL')].filter((site) => site !== undefined).map(named)
  const { hostname } = sites[0]!
  return {
    id: hostname,
    name: site_name ?? hostname,
    origins: [...sites.map(({ origin }) => origin), ...passkey_origins],
  }
}

/** A relying party is a domain and never an address, so that a local stack is `localhost`. */
function named(site: string): URL {
  const url = new URL(site)
  if (isLoopback(url.hostname)) url.hostname = 'localhost'
  return url
}

/** The name by which an authenticator knows the account: it tells nothing of the person, and fits the 64 bytes that WebAuthn allows. */
export async function userHandleOf(userId: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`passkey ${userId}`))
  return base64url(new Uint8Array(digest))
}
