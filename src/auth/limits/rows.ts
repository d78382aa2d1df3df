import { Cron, HttpError, Injectable } from '@stack/backend'
import { type LimitName, limitsDefaults, type Settings } from '../../wire/settings.ts'
import { inRequest, type Sql } from '../shared/sql.ts'

/** What became of an attempt. */
interface Taken {
  settings: Settings
  /** The limit that has no room. */
  full: LimitName | null
  /** The error to throw after the transaction, where a limit has no room. */
  refused: HttpError | undefined
}

/**
 * Attempts by account and by network. A limit is a bucket that refills at a steady rate, so that there is no moment at which twice as
 * many attempts fit. Call it in `Database.$apart`, so that the attempt counts although its request fails.
 */
@Injectable()
export class Limits {
  /**
   * Counts one attempt. @param key what is counted: an address, a network, a session; only its digest is stored.
   * @returns the error to throw where the attempt is one too many: 429 `rate_limited` with `retry-after` in seconds. Throw it after the
   * transaction, or the attempts that were counted beside it are rolled back.
   */
  async take(sql: Sql, name: LimitName, key: string, settings: Settings): Promise<HttpError | undefined> {
    const { attempts, seconds } = limitOf(name, settings)
    const [row] = await sql<{ wait: number }>`
      select auth.take_attempt(${await bucketOf(name, key)}, ${attempts}, ${seconds}) as wait`
    return refusal(row!.wait)
  }

  /**
   * Takes one attempt from each limit in turn until one is full, and reads the settings, in one statement: later limits are not touched
   * by an attempt that an earlier one refuses. @param keys what each limit counts.
   */
  async takeEach(sql: Sql, keys: readonly (readonly [LimitName, string])[]): Promise<Taken> {
    const buckets = await Promise.all(keys.map(([name, key]) => bucketOf(name, key)))
    const names = keys.map(([name]) => name)
    const [row] = await sql<{ document: Settings; refused: LimitName | null; wait: number | null }>`
      select document, refused, wait
      from auth.take_attempts(${names}::text[], ${buckets}::text[], ${JSON.stringify(limitsDefaults)}::jsonb)`
    const { document: settings, refused, wait } = row!
    return { settings, full: refused, refused: refusal(wait ?? 0) }
  }

  /**
   * Whether a refusal is the first one of its period: what is done once where an account hits its limit is done then. Call it in the
   * transaction of `take`.
   */
  async isFirstRefusal(sql: Sql, name: LimitName, key: string, settings: Settings): Promise<boolean> {
    const { seconds } = limitOf(name, settings)
    const [row] = await sql<{ wait: number }>`
      select auth.take_attempt(${`refused ${await bucketOf(name, key)}`}, 1, ${seconds}) as wait`
    return row!.wait === 0
  }

  /** How many attempts count at this moment, and until when no more fit. */
  async stateOf(
    sql: Sql,
    name: LimitName,
    key: string,
    settings: Settings,
  ): Promise<{ attempts: number; fullUntil: Date | null }> {
    const { attempts, seconds } = limitOf(name, settings)
    const [row] = await sql<{ level: number }>`
      select greatest(0, level - extract(epoch from clock_timestamp() - updated_at)::float8 * ${attempts} / ${seconds}) as level
      from auth.rate_limits where bucket = ${await bucketOf(name, key)}`
    const level = row?.level ?? 0
    const wait = Math.max(0, ((level + 1 - attempts) * seconds) / attempts)
    return { attempts: Math.ceil(level), fullUntil: wait > 0 ? new Date(Date.now() + wait * 1000) : null }
  }

  /** Forgets the wrong passwords of an account, from every network: its owner has chosen another one. */
  async forgetAccount(key: string): Promise<void> {
    await this.forget(inRequest, 'sign_in_per_account_everywhere', key)
  }

  /** Buckets that have run empty say nothing any more. */
  @Cron('5 * * * *')
  async forgetEmpty(): Promise<void> {
    await inRequest`delete from auth.rate_limits where empty_at < now()`
  }

  /** Forgets the attempts: one of them has succeeded. */
  async forget(sql: Sql, name: LimitName, key: string): Promise<void> {
    await sql`delete from auth.rate_limits where bucket = ${await bucketOf(name, key)}`
  }
}

/** @param wait seconds until the next attempt. */
function refusal(wait: number): HttpError | undefined {
  if (wait === 0) return undefined
  const retryAfter = String(Math.ceil(wait))
  const reason = `too many attempts: try again in ${retryAfter} s`
  return new HttpError(429, 'rate_limited', reason, { headers: { 'retry-after': retryAfter } })
}

const limitOf = (name: LimitName, { rate_limits }: Settings) => rate_limits?.[name] ?? limitsDefaults[name]

/** A dump of the table names no address. */
async function bucketOf(name: LimitName, key: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(key))
  return `${name} ${Array.from(new Uint8Array(digest, 0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
