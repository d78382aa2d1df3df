/** The way to a provider's pages, and what its answer proves. No connection is held here: providers may be slow. */

import { importPKCS8, SignJWT } from 'jose'
import type { OAuthProvider } from '../../wire/providers.ts'
import type { Person } from '../identities/rows.ts'
import type { OpenCredential } from '../providers/credentials.ts'
import { baseUrl } from '../shared/urls.ts'
import type { ProviderClient } from './client.ts'
import { discover, tenantIn } from './discovery.ts'
import { clientIdOf, githubEndpoints, issuerOf, known } from './endpoints.ts'
import { githubPerson } from './github.ts'
import { bounded, library, libraryClient, personFrom, serverOf, verify } from './id-token.ts'
import { profileOf } from './person.ts'
import { ProviderFailed } from './provider-fetch.ts'
import type { Flow } from './rows.ts'
import { digestOf } from './secrets.ts'

/** Seconds that a client secret of Apple is valid: it is made for one call. */
const appleSecretSeconds = 300

/** Where the provider sends the browser back to. Each client is registered with exactly this address. */
const callbackUrl = (provider: OAuthProvider): string => `${baseUrl()}/auth/oauth/${provider}/callback`

/** @returns the address of the provider's own pages. @throws ProviderFailed where its metadata cannot be read. */
export async function authorizationUrl(
  client: ProviderClient,
  { provider, verifier, nonce }: Pick<Flow, 'provider' | 'verifier' | 'nonce'>,
  state: string,
): Promise<string> {
  const { scope, responseMode } = known[provider]
  const endpoint =
    provider === 'github'
      ? githubEndpoints().metadata.authorization_endpoint
      : (await discover(provider, client)).metadata.authorization_endpoint
  const url = new URL(endpoint)
  const parameters = {
    client_id: clientIdOf(provider, client),
    redirect_uri: callbackUrl(provider),
    response_type: 'code',
    scope: [...new Set([...scope.split(' '), ...client.scopes])].join(' '),
    state,
    code_challenge: await digestOf(verifier),
    code_challenge_method: 'S256',
    ...(provider === 'github' ? {} : { nonce }),
    ...(responseMode ? { response_mode: responseMode } : {}),
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

/** A callback whose `state` was right. */
export interface Callback {
  flow: Flow
  state: string
  client: ProviderClient
  credential: OpenCredential | undefined
  /** The query of the address, or the form that Apple posts. */
  parameters: URLSearchParams
}

/**
 * Exchanges the code and checks all that comes back.
 * @throws ProviderFailed, AnswerRefused, and errors of oauth4webapi: each with a reason for the log alone.
 */
export async function readAnswer(callback: Callback): Promise<Person & { provider: OAuthProvider }> {
  const { flow, client } = callback
  if (flow.provider === 'github') {
    const { metadata, user, emails } = githubEndpoints()
    const { processAuthorizationCodeResponse } = await library()
    const answer = await processAuthorizationCodeResponse(
      metadata,
      await libraryClient('github', client),
      await exchange(callback, metadata),
    )
    return githubPerson(answer.access_token, { user, emails })
  }
  const found = await discover(flow.provider, client)
  const response = await exchange(callback, serverOf(flow.provider, found, undefined))
  const claims = await verify(flow.provider, client, found, response, flow.nonce)
  const person = personFrom(flow.provider, claims)
  if (flow.provider !== 'apple') return person
  return { ...person, profile: { ...appleName(callback.parameters.get('user')), ...person.profile } }
}

async function exchange(
  callback: Callback,
  server: Parameters<Awaited<ReturnType<typeof library>>['authorizationCodeGrantRequest']>[0],
): Promise<Response> {
  const { flow, client, state, parameters } = callback
  const { authorizationCodeGrantRequest, ClientSecretPost, validateAuthResponse } = await library()
  const own = await libraryClient(flow.provider, client)
  const answering = { ...server, issuer: responseIssuer(callback, server.issuer) }
  const checked = validateAuthResponse(answering, own, parameters, state)
  const secret = ClientSecretPost(await clientSecret(callback))
  const redirectUri = callbackUrl(flow.provider)
  return authorizationCodeGrantRequest(server, own, secret, checked, redirectUri, flow.verifier, await bounded())
}

/**
 * The issuer that a response may name (RFC 9207). Microsoft's metadata have a template where the response has a directory: any directory
 * passes here, and the ID token decides which one is admitted.
 */
function responseIssuer({ flow, parameters }: Callback, issuer: string): string {
  const named = parameters.get('iss') ?? ''
  const isDirectory = flow.provider === 'microsoft' && issuer.includes('{tenantid}') && tenantIn(named) !== undefined
  return isDirectory ? named : issuer
}

async function clientSecret({ flow, client, credential }: Callback): Promise<string> {
  if (flow.provider !== 'apple') {
    if (credential?.kind === 'oauth_client_secret') return credential.client_secret
    throw new ProviderFailed(`there is no client secret ${client.credential_ref ?? client.key} of ${flow.provider}`)
  }
  if (credential?.kind !== 'signing_key') {
    throw new ProviderFailed(`there is no signing key ${client.credential_ref ?? client.key} of apple`)
  }
  // https://developer.apple.com/documentation/accountorganizationaldatasharing/creating-a-client-secret
  return new SignJWT()
    .setProtectedHeader({ alg: 'ES256', kid: credential.key_id })
    .setIssuer(credential.team_id)
    .setSubject(clientIdOf('apple', client))
    .setAudience(issuerOf('apple'))
    .setIssuedAt()
    .setExpirationTime(`${appleSecretSeconds} s`)
    .sign(await importPKCS8(credential.private_key, 'ES256'))
}

/** The name that the person has typed at Apple: told once, through the browser, and so no proof of anything. */
function appleName(user: string | null) {
  let name: unknown
  try {
    name = (JSON.parse(user ?? 'null') as { name?: unknown } | null)?.name
  } catch {
    return {}
  }
  if (typeof name !== 'object' || name === null) return {}
  const { firstName, lastName } = name as Record<string, unknown>
  const whole = [firstName, lastName].filter((part) => typeof part === 'string').join(' ')
  return profileOf({ name: whole, given_name: firstName, family_name: lastName, picture: undefined, login: undefined })
}
