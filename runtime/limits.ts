/** Limits how often a caller may use a route. The platform's rate-limit binding counts approximately, and separately in each location (contract 2.7). */
import { httpError } from '../src/sdk/errors.ts'
import type { Call } from './call.ts'
import { networkOf } from './caller.ts'
import { type Identity, isSignedIn } from './identity/identify.ts'
import { errorFields } from './log.ts'
import type { RateLimit } from './table.ts'

interface RateLimiter {
  limit(options: { key: string }): Promise<{ success: boolean }>
}

/** @throws HttpError 429 beyond the limit, 503 where the binding cannot be read: a broken binding must not lift the limit. */
export async function limitRate(call: Call, limit: RateLimit, identity: Identity | null): Promise<void> {
  const { binding, key, seconds, by } = limit
  const who = by === 'user' && isSignedIn(identity) ? `user ${identity.claims.sub}` : `ip ${networkOf(call.request)}`
  const answer = await ask(call, binding, `${key} ${who}`)
  if (!answer.success) throw httpError('rate_limited', undefined, { headers: { 'retry-after': String(seconds) } })
}

async function ask(call: Call, binding: string, key: string): Promise<{ success: boolean }> {
  try {
    const limiter = call.env[binding] as RateLimiter | undefined
    if (!limiter)
      throw new Error(`the rate-limit binding ${binding} is not set: the build writes it to .stack/bindings.toml`)
    return await limiter.limit({ key })
  } catch (error) {
    call.log('error', 'a rate limit could not be read', errorFields(error))
    throw httpError('unavailable')
  }
}
