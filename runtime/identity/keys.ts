/**
 * The environment's key set (contract 3.2): fetched at first need, then refreshed at most once per window, one refresh
 * at a time; stale keys serve until a refresh succeeds. jose's remote set is not used: on Workers it forgets its fetch in
 * flight, so that every cold request starts one more.
 *
 * Requests share the promise of a refresh. It yields plain data, and its owner keeps it alive with `waitUntil`: whatever
 * else one request awaits of another, the Workers runtime may cancel. Each waiter has a timer of its own.
 */

const windowMs = 300_000
const timeoutMs = 5_000
/** In bytes. */
export const longestBody = 512 * 1024
export const tooLarge = 'the key set is larger than 512 KiB'
const longestBackOffMs = 30_000

export interface Key {
  kid: string | undefined
  key: CryptoKey
}

export interface KeySource {
  /** @returns the body of the key set. @throws when it cannot be had, or is longer than `longestBody`. */
  load(signal: AbortSignal): Promise<string>
  waitUntil(promise: Promise<unknown>): void
  /** Told of a refresh that failed. */
  failed(error: unknown): void
}

export interface KeySet {
  /** The keys that may have signed a token with this `kid`; without one, all. Waits only where there is none. */
  find(kid: string | undefined, source: KeySource): Promise<Key[]>
  /**
   * After a signature that failed: waits for a refresh if the set is older than its window.
   * @returns whether there are new keys to try.
   */
  renew(source: KeySource): Promise<boolean>
}

/** @param now milliseconds. @param seed a key set as text (`AUTH_JWKS`). */
export function createKeySet(now: () => number, seed?: string): KeySet {
  let keys: Key[] | undefined
  let loadedAt = Number.NEGATIVE_INFINITY
  let attemptedAt = Number.NEGATIVE_INFINITY
  let failures = 0
  let refreshing: { done: Promise<void>; startedAt: number } | undefined
  let unread = seed

  /** In either direction: a clock that was set back far would stop every refresh until it has caught up. */
  const since = (moment: number) => Math.abs(now() - moment)

  async function refresh(source: KeySource): Promise<void> {
    try {
      keys = await importKeys(await source.load(AbortSignal.timeout(timeoutMs)))
      loadedAt = now()
      failures = 0
    } catch (error) {
      failures++
      source.failed(error)
    } finally {
      refreshing = undefined
    }
  }

  async function readSeed(text: string, source: KeySource): Promise<void> {
    try {
      const imported = await importKeys(text)
      keys ??= imported
    } catch (error) {
      source.failed(error)
    }
    unread = undefined
  }

  /** Starts a refresh unless one runs or this window has had its own. A lease, not a flag: an owner may be cancelled. */
  function refreshIfDue(source: KeySource): void {
    if (refreshing && since(refreshing.startedAt) < 2 * timeoutMs) return
    const wait = keys ? windowMs : failures === 0 ? 0 : Math.min(1000 * 2 ** (failures - 1), longestBackOffMs)
    if (since(attemptedAt) < wait) return
    attemptedAt = now()
    const done = refresh(source)
    refreshing = { done, startedAt: attemptedAt }
    source.waitUntil(done)
  }

  async function refreshed(source: KeySource): Promise<void> {
    refreshIfDue(source)
    if (!refreshing) return
    const { promise: givenUp, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, timeoutMs)
    await Promise.race([refreshing.done, givenUp])
    clearTimeout(timer)
  }

  const isOld = () => since(loadedAt) > windowMs
  const matching = (kid: string | undefined) => keys?.filter((key) => kid === undefined || key.kid === kid) ?? []

  return {
    async find(kid, source) {
      if (unread !== undefined) await readSeed(unread, source)
      if (matching(kid).length === 0) await refreshed(source)
      else if (isOld()) refreshIfDue(source)
      return matching(kid)
    },
    async renew(source) {
      if (!isOld()) return false
      const before = keys
      await refreshed(source)
      return keys !== before
    },
  }
}

/** Entries that are no P-256 signing key are skipped, not fatal (RFC 7517 section 5). @throws where nothing is left. */
async function importKeys(text: string): Promise<Key[]> {
  if (text.length > longestBody) throw new Error(tooLarge)
  const entries = (JSON.parse(text) as { keys?: unknown } | null)?.keys
  if (!Array.isArray(entries)) throw new Error('the key set has no list "keys"')
  const keys: Key[] = []
  for (const entry of entries as (Record<string, unknown> | null)[]) {
    if (entry?.['kty'] !== 'EC' || entry['crv'] !== 'P-256') continue
    if (entry['use'] !== undefined && entry['use'] !== 'sig') continue
    if (entry['alg'] !== undefined && entry['alg'] !== 'ES256') continue
    const { kid, x, y, key_ops: uses } = entry
    if (uses !== undefined && !(Array.isArray(uses) && uses.includes('verify'))) continue
    if (typeof x !== 'string' || typeof y !== 'string') continue // a list of one text would be taken for that text
    try {
      const key = await crypto.subtle.importKey(
        'jwk',
        { kty: 'EC', crv: 'P-256', x, y },
        { name: 'ECDSA', namedCurve: 'P-256' },
        false,
        ['verify'],
      )
      keys.push({ kid: typeof kid === 'string' ? kid : undefined, key })
    } catch {
      // a point that is not on the curve
    }
  }
  if (keys.length === 0) throw new Error('the key set holds no ES256 key')
  return keys
}
