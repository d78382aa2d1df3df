/**
 * The issuer of each provider, and what it is asked for. A binding `OAUTH_<PROVIDER>_ISSUER` of the auth worker takes the place of an issuer, for a national
 * cloud, a server of one's own and tests. No client and no setting reaches it.
 */
import { hasClients, type OAuthProvider, providerNamed } from '../../wire/providers.ts'
import { optionalBinding } from '../shared/bindings.ts'
import { authError } from '../shared/errors.ts'
import type { ProviderClient } from './client.ts'

interface Known {
  issuer: string
  /** Asks for the person's address and name, and for nothing else. */
  scope: string
  /** Apple posts its answer where a name or an address is asked for. */
  responseMode?: 'form_post'
}

export const known: Record<OAuthProvider, Known> = {
  // https://developers.google.com/identity/openid-connect/openid-connect
  google: { issuer: 'https://accounts.google.com', scope: 'openid email profile' },
  // https://developer.apple.com/documentation/signinwithapplerestapi/request-an-authorization-to-the-sign-in-with-apple-server
  apple: {
    issuer: 'https://appleid.apple.com',
    scope: 'openid name email',
    responseMode: 'form_post',
  },
  // https://learn.microsoft.com/en-us/entra/identity-platform/v2-protocols-oidc: the issuer is this, the tenant and /v2.0
  microsoft: { issuer: 'https://login.microsoftonline.com', scope: 'openid email profile' },
  // https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
  github: { issuer: 'https://github.com/login/oauth', scope: 'read:user user:email' },
}

/** The directory of personal accounts (https://learn.microsoft.com/en-us/entra/identity-platform/id-token-claims-reference, `tid`). */
export const consumersTenant = '9188040d-6c67-4c5b-b112-36a304b66dad'

/** @param name a name or a synonym (contract 9.5), from the path. @throws HttpError 404 `provider_not_found` */
export function requireProvider(name: string): OAuthProvider {
  const provider = providerNamed(name)
  if (provider && hasClients(provider)) return provider
  throw authError('provider_not_found', 'there is no such provider: they are google, apple, microsoft and github')
}

/** @returns the issuer without a slash at its end. */
export function issuerOf(provider: OAuthProvider): string {
  return (optionalBinding(`OAUTH_${provider.toUpperCase()}_ISSUER`) ?? known[provider].issuer).replace(/\/+$/, '')
}

/** The directory whose accounts a client of Microsoft admits: its own tenant, or one of the three words. */
function directoryOf({ fields }: ProviderClient): string {
  return String(fields['directory'] === 'tenant' ? fields['tenant_id'] : fields['directory'])
}

/** The address of an OpenID Connect provider's metadata. */
export function discoveryUrl(provider: OAuthProvider, client: ProviderClient): string {
  const issuer = issuerOf(provider)
  const base = provider === 'microsoft' ? `${issuer}/${encodeURIComponent(directoryOf(client))}/v2.0` : issuer
  return `${base}/.well-known/openid-configuration`
}

/** GitHub has no ID tokens. A GitHub Enterprise Server has its API below its own address (https://docs.github.com/en/rest). */
export function githubEndpoints() {
  const issuer = issuerOf('github')
  const api = issuer === known.github.issuer ? 'https://api.github.com' : `${new URL(issuer).origin}/api/v3`
  return {
    metadata: {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/access_token`,
    },
    user: `${api}/user`,
    emails: `${api}/user/emails`,
  }
}

/** The id that the provider knows a client by: the audience of its ID tokens. */
export function clientIdOf(provider: OAuthProvider, { kind, platform, fields }: ProviderClient): string {
  const isBrowser = kind === 'browser'
  const field = {
    google: isBrowser ? 'web_client_id' : platform === 'android' ? 'server_client_id' : 'ios_client_id',
    apple: isBrowser ? 'services_id' : 'bundle_id',
    microsoft: 'application_id',
    github: 'web_client_id',
  }[provider]
  const id = fields[field]
  if (typeof id !== 'string' || id === '') throw new Error(`the client of ${provider} has no ${field}`)
  return id
}

/** Parties that an ID token may have been issued to (`azp`): on Android the app's own id, beside its server's. */
export function partiesOf(provider: OAuthProvider, client: ProviderClient): string[] {
  const own = client.fields['android_client_id']
  return [clientIdOf(provider, client), ...(typeof own === 'string' ? [own] : [])]
}
