/**
 * The environment's key set (contract 3.2): fetched at first need, then refreshed at most once per window, one refresh at a
 * time. Stale keys serve until a refresh succeeds. jose's remote set is not used: on Workers it forgets its fetch in flight,
 * so that every request of a cold isolate starts another one.
 *
 * Requests share the promise of a refresh. It yields plain data, and its owner keeps it alive with `waitUntil`. The Workers
 * runtime may cancel any other promise that one request awaits of another. Each waiting request has a timer of its own.
 */

/** Minimum time in milliseconds between two refreshes. Contract 3.2 promises it to the issuer. */
const windowMs = 300_000
/** Longest time in milliseconds for a fetch, and for a request that waits for one (contract 3.2). */
const timeoutMs = 5_000
/** Longest key set in bytes (contract 3.2): some thousand keys. */
const longestBytes = 512 * 1024
/** Longest wait in milliseconds between two attempts to fetch a set that was never fetched (contract 3.2). */
const longestBackOffMs = 30_000

export interface Key {
  kid: string | undefined
  key: CryptoKey
}

export interface KeySource {
  /** @returns the body of the key set. @throws when it cannot be fetched, or is too long. */
  load(signal: AbortSignal): Promise<string>
  waitUntil(promise: Promise<unknown>): void
  /** Called after a refresh that failed. */
  failed(error: unknown): void
}

export interface KeySet {
  /** @returns the keys with this `kid`; without a `kid`, all keys. Waits for a refresh only where there is no such key. */
  find(kid: string | undefined, source: KeySource): Promise<Key[]>
  /**
   * Called after a signature that failed. Waits for a refresh if the set is older than its window.
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

  /** Counts in both directions: after a clock was set back, refreshes would stop until it has caught up. */
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

  /**
   * Starts a refresh, unless one runs or this window has had one. A refresh counts as running for a limited time, because
   * the Workers runtime may cancel the request that owns it.
   */
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

/** @throws Error for a key set that is too long. */
export function requireKeySetLength(length: number): void {
  if (length > longestBytes) throw new Error('the key set is larger than 512 KiB')
}

/** Skips entries that are not P-256 signing keys (RFC 7517 section 5). @throws where no key is left. */
async function importKeys(text: string): Promise<Key[]> {
  requireKeySetLength(text.length)
  const entries = (JSON.parse(text) as { keys?: unknown } | null)?.keys
  if (!Array.isArray(entries)) throw new Error('the key set has no list "keys"')
  const keys: Key[] = []
  for (const entry of entries as (Record<string, unknown> | null)[]) {
    if (entry?.['kty'] !== 'EC' || entry['crv'] !== 'P-256') continue
    if (entry['use'] !== undefined && entry['use'] !== 'sig') continue
    if (entry['alg'] !== undefined && entry['alg'] !== 'ES256') continue
    const { kid, x, y, key_ops: uses } = entry
    if (uses !== undefined && !(Array.isArray(uses) && uses.includes('verify'))) continue
    if (typeof x !== 'string' || typeof y !== 'string') continue // WebCrypto would convert a list of one text to that text
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
      // the point does not lie on the curve
    }
  }
  if (keys.length === 0) throw new Error('the key set holds no ES256 key')
  return keys
}
