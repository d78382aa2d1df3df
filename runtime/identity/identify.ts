/** Identifies the caller. Every failure gives the same anonymous identity (contract 3.3). Only the log has the reason. */
import { isLoopback } from '../../src/wire/loopback.ts'
import { readChunks } from '../bytes.ts'
import type { Call } from '../call.ts'
import { callerHeader } from '../caller.ts'
import { ownIssuer, stackUrl, textBinding } from '../env.ts'
import { errorFields } from '../log.ts'
import { bearerToken } from './bearer.ts'
import { createKeySet, type KeySet, type KeySource, requireKeySetLength } from './keys.ts'
import { type Claims, isSignedBy, readToken } from './verify.ts'

export interface Identity {
  claims: Claims
  /** The `role` claim: `anon`, else `authenticated`. */
  role: 'anon' | 'authenticated'
}

/** The key set of each address. It outlives requests. Identities are never kept. */
const keySets = new Map<string, KeySet>()

/** @returns the verified identity, or `null`. */
export async function identify(call: Call): Promise<Identity | null> {
  const bearer = bearerToken(call.request)
  if (bearer === undefined) return null
  let reason: string
  try {
    const verified = 'token' in bearer ? await verify(call, bearer.token) : bearer.reason
    if (typeof verified !== 'string') return verified
    reason = verified
  } catch (error) {
    reason = `failed: ${error}`
  }
  call.log('debug', 'the access token was refused', { reason })
  return null
}

/** The token is valid, but an anonymous session is not signed in (contract 3.4). */
export function isSignedIn(identity: Identity | null): identity is Identity {
  return identity !== null && identity.role !== 'anon'
}

async function verify(call: Call, token: string): Promise<Identity | string> {
  const candidate = readToken(token, {
    issuer: textBinding(call.env, 'AUTH_ISSUER'),
    audience: textBinding(call.env, 'AUTH_AUDIENCE'),
    ownIssuer: ownIssuer(call.env),
    now: Date.now() / 1000,
  })
  if (typeof candidate === 'string') return candidate
  const address = textBinding(call.env, 'AUTH_JWKS_URL')
  if (address === undefined) return 'AUTH_JWKS_URL is not set'
  const keySet = keySets.get(address) ?? createKeySet(Date.now, textBinding(call.env, 'AUTH_JWKS'))
  keySets.set(address, keySet)
  const source = sourceAt(address, call)
  const keys = await keySet.find(candidate.kid, source)
  if (keys.length === 0) return 'unknown_key'
  if (!(await isSignedBy(keys, candidate))) {
    const renewed = (await keySet.renew(source)) ? await keySet.find(candidate.kid, source) : []
    if (!(await isSignedBy(renewed, candidate))) return 'bad_signature'
  }
  return { claims: candidate.claims, role: candidate.claims['role'] === 'anon' ? 'anon' : 'authenticated' }
}

function sourceAt(address: string, call: Call): KeySource {
  return {
    waitUntil: call.waitUntil,
    failed: (error) => call.log('warn', 'the key set could not be refreshed', { address, ...errorFields(error) }),
    async load(signal) {
      const url = new URL(address)
      const response = await fetchKeySet(call, url, signal)
      if (response.status !== 200) throw new Error(`the key set answered ${response.status}`)
      return new TextDecoder().decode(await readChunks(response.body, requireKeySetLength))
    },
  }
}

/**
 * Fetches the stack's own key set over the binding `AUTH`, because a worker cannot reach its own host by fetch. The binding
 * `STACK_URL` decides which key set is the stack's own, never the request's `Host` (contract 1.2).
 */
async function fetchKeySet({ env }: Call, url: URL, signal: AbortSignal): Promise<Response> {
  const auth = env['AUTH'] as Fetcher | undefined
  const base = stackUrl(env)
  const own = base === undefined ? undefined : new URL(`${base}/auth/`)
  const isOwn = own?.origin === url.origin && url.pathname.startsWith(own.pathname)
  if (!auth || !own || !isOwn) {
    // the binding needs no https: a stack in a private network may have an http address (contract 9.14)
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname)))
      throw new Error('AUTH_JWKS_URL must be https')
    return fetch(url, { redirect: 'manual', signal })
  }
  // the path of STACK_URL belongs to the proxy, which strips it: the auth worker never sees it
  const path = url.pathname.slice(own.pathname.length)
  // all users need the keys, so the fetch counts under a caller of its own
  const headers = { [callerHeader]: 'the key set' }
  return auth.fetch(new URL(`/auth/${path}${url.search}`, url), { redirect: 'manual', signal, headers })
}
