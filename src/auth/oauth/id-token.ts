/** ID tokens (OpenID Connect Core section 3.1.3.7): of a code's exchange, and those that a native application brings. */

import { decodeJwt, decodeProtectedHeader } from 'jose'
import type { AuthorizationServer, Client } from 'oauth4webapi'
import type { OAuthProvider } from '../../wire/providers.ts'
import type { Person } from '../identities/rows.ts'
import { base64url } from '../shared/base64url.ts'
import type { ProviderClient } from './client.ts'
import { type Discovered, tenantIn } from './discovery.ts'
import { clientIdOf, consumersTenant, issuerOf, known, partiesOf } from './endpoints.ts'
import { isVerified, personOf } from './person.ts'
import { AnswerRefused, providerFetch } from './provider-fetch.ts'
import { hex, sha256 } from './secrets.ts'

/** Seconds that the clocks of a provider and the stack may differ. */
const toleranceSeconds = 30
/** Seconds that an ID token may still be valid: Apple's last a day, the others' an hour. */
const longestSeconds = 90_000

export type Claims = Record<string, unknown> & { sub: string; exp: number; iat: number }

/** Loaded at the first sign-in with a provider: most isolates serve none. */
export const library = () => import('oauth4webapi')

/** Options of each call of the library: requests within bounds, and http on loopback alone, which `providerFetch` sees to. */
export async function bounded(keys?: Discovered['keys']) {
  const { allowInsecureRequests, customFetch, jwksCache } = await library()
  const fetcher = (address: string, init?: unknown) => providerFetch(address, init as RequestInit)
  return {
    [customFetch]: fetcher,
    [allowInsecureRequests]: true,
    ...(keys ? { [jwksCache]: keys } : {}),
  } as const
}

/** How the library names the provider, for one token: the issuer that this token must have. */
export function serverOf(provider: OAuthProvider, { metadata }: Discovered, idToken: unknown): AuthorizationServer {
  return { ...metadata, issuer: issuerFor(provider, metadata.issuer, peek(idToken)) }
}

/** @param client as the library knows it. */
export async function libraryClient(provider: OAuthProvider, client: ProviderClient): Promise<Client> {
  const { clockTolerance } = await library()
  return { client_id: clientIdOf(provider, client), [clockTolerance]: toleranceSeconds }
}

/**
 * Checks an answer of a token endpoint: its ID token has the issuer, audience, times and nonce that it must have, and the provider's
 * signature.
 * @throws Error with the reason, for the log.
 */
export async function verify(
  provider: OAuthProvider,
  client: ProviderClient,
  found: Discovered,
  response: Response,
  expectedNonce: string,
): Promise<Claims> {
  const { getValidatedIdTokenClaims, processAuthorizationCodeResponse, validateApplicationLevelSignature } =
    await library()
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined)
  const idToken = (body as { id_token?: unknown } | undefined)?.id_token
  const server = serverOf(provider, found, idToken)
  const asked = { expectedNonce, requireIdToken: true }
  const answer = await processAuthorizationCodeResponse(server, await libraryClient(provider, client), response, asked)
  await validateApplicationLevelSignature(server, response, await bounded(found.keys))
  const claims = getValidatedIdTokenClaims(answer) as unknown as Claims
  checkTimes(claims)
  const party = claims['azp']
  if (party !== undefined && !partiesOf(provider, client).includes(String(party))) {
    throw new AnswerRefused('the ID token was issued to another party')
  }
  if (provider === 'microsoft') checkDirectory(client, claims, found, String(idToken))
  return claims
}

/** @throws Error with the reason, for the log. */
export async function verifyNative(
  provider: OAuthProvider,
  client: ProviderClient,
  found: Discovered,
  { id_token, nonce, access_token }: { id_token: string; nonce: string; access_token?: string | undefined },
): Promise<Claims> {
  const digest = await sha256(nonce)
  // applications give the provider the nonce itself or its SHA-256, in one of two forms
  const forms = [nonce, hex(digest), base64url(digest)]
  const expected = forms.find((form) => form === peek(id_token)['nonce']) ?? nonce
  const answer = Response.json({ access_token: access_token ?? 'none', token_type: 'bearer', id_token })
  const claims = await verify(provider, client, found, answer, expected)
  if (access_token !== undefined) {
    const half = base64url((await sha256(access_token)).slice(0, 16))
    if (claims['at_hash'] !== half) throw new AnswerRefused('the access token is of another sign-in')
  }
  return claims
}

export function personFrom(provider: OAuthProvider, claims: Claims): Person & { provider: OAuthProvider } {
  const { name, given_name, family_name, picture } = claims as Record<string, unknown>
  const email = { address: claims['email'], isVerified: isVerified(provider, claims) }
  return personOf(provider, claims.sub, email, { name, given_name, family_name, picture, login: undefined })
}

/** Claims before they are verified, to choose what they are verified against. */
function peek(idToken: unknown): Record<string, unknown> {
  try {
    return decodeJwt(String(idToken))
  } catch {
    return {}
  }
}

function issuerFor(provider: OAuthProvider, issuer: string, { iss, tid }: Record<string, unknown>): string {
  // a directory's own issuer takes the place of the template, and `checkDirectory` decides whether that directory is admitted
  if (provider === 'microsoft' && typeof tid === 'string' && issuer.includes('{tenantid}')) {
    return tenantIn(issuer.replace('{tenantid}', tid)) === tid ? issuer.replace('{tenantid}', tid) : issuer
  }
  // Google documents both forms of its own name
  if (provider === 'google' && issuer === known.google.issuer && iss === 'accounts.google.com') return iss
  return issuer
}

function checkTimes({ exp, iat }: Claims): void {
  const now = Date.now() / 1000
  if (!Number.isFinite(iat) || iat > now + toleranceSeconds) throw new AnswerRefused('the ID token is of the future')
  if (!Number.isFinite(exp) || exp > now + longestSeconds) throw new AnswerRefused('the ID token is valid for too long')
}

/** The directory that the client admits, and the key that may sign for it: a key may belong to one directory alone. */
function checkDirectory({ fields }: ProviderClient, claims: Claims, found: Discovered, idToken: string): void {
  const { keys, metadata } = found
  const { tid, iss } = claims as Record<string, unknown>
  const directory = fields['directory']
  const isAdmitted =
    directory === 'common' ||
    (directory === 'organizations' && tid !== consumersTenant) ||
    (directory === 'consumers' && tid === consumersTenant) ||
    // a tenant may be named by one of its domains: its own metadata have its id
    (directory === 'tenant' && tid === tenantIn(metadata.issuer))
  const isTenant = typeof tid === 'string' && /^[0-9a-f-]{36}$/.test(tid)
  if (!isAdmitted || !isTenant || iss !== `${issuerOf('microsoft')}/${tid}/v2.0`) {
    throw new AnswerRefused('the ID token is of a directory that this client does not admit')
  }
  const { kid } = decodeProtectedHeader(idToken)
  const signers = 'jwks' in keys ? keys.jwks.keys.filter((key) => key['kid'] === kid) : []
  const bound = signers
    .map((key) => (key as { issuer?: unknown }).issuer)
    .filter((issuer) => typeof issuer === 'string')
  if (bound.some((issuer) => issuer.replace('{tenantid}', String(tid)) !== iss)) {
    throw new AnswerRefused('the ID token is signed with the key of another directory')
  }
}
