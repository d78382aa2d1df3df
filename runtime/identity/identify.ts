/** Who is calling. Never throws, and never says why not: every failure is the same anonymous identity (contract 3.3). */
import { isLoopback } from '../../src/wire/loopback.ts'
import { readAtMost } from '../bytes.ts'
import { type Call, textBinding } from '../call.ts'
import { errorFields } from '../log.ts'
import { bearerToken } from './bearer.ts'
import { createKeySet, type KeySet, type KeySource, longestBody, tooLarge } from './keys.ts'
import { type Claims, isSignedBy, readToken } from './verify.ts'

export interface Identity {
  claims: Claims
  /** The `role` claim: `anon`, else `authenticated`. */
  role: 'anon' | 'authenticated'
}

/** The key set of each address. It outlives requests, and identities never do. */
const keySets = new Map<string, KeySet>()

/** @returns the verified identity, or `null`. */
export async function identify(call: Call): Promise<Identity | null> {
  const token = bearerToken(call.request)
  if (token === undefined) return null
  let reason: string
  try {
    const verified = await verify(call, token)
    if (typeof verified !== 'string') return verified
    reason = verified
  } catch (error) {
    reason = `failed: ${error}`
  }
  call.log('debug', 'the access token was refused', { reason })
  return null
}

/** An anonymous session is verified and still nobody (contract 3.4). */
export function isSignedIn(identity: Identity | null): identity is Identity {
  return identity !== null && identity.role !== 'anon'
}

async function verify(call: Call, token: string): Promise<Identity | string> {
  const candidate = readToken(token, {
    issuer: textBinding(call.env, 'AUTH_ISSUER'),
    audience: textBinding(call.env, 'AUTH_AUDIENCE'),
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
      if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) {
        throw new Error('AUTH_JWKS_URL must be https')
      }
      // On the own host the auth worker answers, and a worker cannot reach its own host by fetch (contract 1.2).
      const auth = call.env['AUTH'] as Fetcher | undefined
      const ownHost = new URL(textBinding(call.env, 'AUTH_ISSUER') ?? call.request.url).host
      const through = auth && url.host === ownHost ? auth : globalThis
      const response = await through.fetch(address, { redirect: 'manual', signal })
      if (response.status !== 200) throw new Error(`the key set answered ${response.status}`)
      const body = await readAtMost(response.body, longestBody)
      if (!body) throw new Error(tooLarge)
      return new TextDecoder().decode(body)
    },
  }
}
