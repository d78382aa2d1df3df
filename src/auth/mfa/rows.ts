import { Cron, Injectable } from '@stack/backend'
import { newId } from '../../wire/ids.ts'
import type { Origin } from '../sessions/rows.ts'
import { randomText } from '../shared/base64url.ts'
import { open, seal } from '../shared/seal.ts'
import { inRequest, type Sql } from '../shared/sql.ts'
import { digestOf, newRecoveryCodes } from './recovery.ts'
import { stepOf } from './totp.ts'

export interface Factor {
  id: string
  type: 'totp' | 'webauthn'
  status: 'pending' | 'verified'
  label: string
  created_at: Date
  verified_at: Date | null
  last_used_at: Date | null
  /** Whether a passkey is kept in a backup, as those that a person's devices share are. `null` for other types. */
  backed_up: boolean | null
}

export interface RecoveryCodes {
  total: number
  remaining: number
  created_at: Date
}

export interface Challenge {
  user_id: string
  /** Methods that the user has proved already. */
  amr: string[]
  origin: Origin | null
}

/** Wrong codes after which a challenge is over: a million codes are too many to guess with five. */
const mostAttempts = 5

/** The row that a sealed secret belongs to. Moved to another row, it does not open. */
export const placeOf = (id: string) => `second factor ${id}`

@Injectable()
export class Factors {
  ofUser(userId: string): Promise<Factor[]> {
    return inRequest<Factor>`
      select id, type, status, label, created_at, verified_at, last_used_at, is_backed_up as backed_up from auth.mfa_factors
      where user_id = ${userId} order by created_at, id`
  }

  /** @param type any type where it is absent. */
  async hasVerified(userId: string, type?: Factor['type']): Promise<boolean> {
    const rows = await inRequest`
      select from auth.mfa_factors
      where user_id = ${userId} and status = 'verified' and type = coalesce(${type ?? null}, type) limit 1`
    return rows.length > 0
  }

  /** A factor that waits for its first code. It takes the place of an earlier one that was never verified. */
  async enrol(userId: string, label: string, secret: string): Promise<string> {
    const id = newId('fac_')
    await inRequest`select from auth.users where id = ${userId} for no key update` // enrolments of one user follow each other
    await inRequest`delete from auth.mfa_factors where user_id = ${userId} and status = 'pending' and type = 'totp'`
    await inRequest`insert into auth.mfa_factors (id, user_id, type, status, label, sealed_secret)
      values (${id}, ${userId}, 'totp', 'pending', ${label}, ${await seal(secret, placeOf(id))})`
    return id
  }

  /** The first right code makes the factor count. The code is used up. @returns whether the code was right. */
  async verify(userId: string, id: string, code: string): Promise<boolean> {
    return this.use(userId, 'pending', code, id)
  }

  /** @returns whether the code is right and was not used before: of attempts in parallel with one code, one succeeds. */
  async check(userId: string, code: string): Promise<boolean> {
    return this.use(userId, 'verified', code)
  }

  /** @returns the type of the factor, or `undefined` where the user has no such factor. */
  async remove(userId: string, id: string): Promise<Factor['type'] | undefined> {
    await inRequest`select from auth.users where id = ${userId} for no key update` // enrolments and removals follow each other
    const [removed] = await inRequest<Pick<Factor, 'type'>>`
      delete from auth.mfa_factors where id = ${id} and user_id = ${userId} returning type`
    return removed?.type
  }

  /** @returns how many there were, with those that wait for their first code. */
  async removeAll(userId: string): Promise<number> {
    const removed = await inRequest`delete from auth.mfa_factors where user_id = ${userId} returning id`
    return removed.length
  }

  private async use(userId: string, status: Factor['status'], code: string, id?: string): Promise<boolean> {
    const [factor] = await inRequest<{ id: string; sealed_secret: string }>`
      select id, sealed_secret from auth.mfa_factors
      where user_id = ${userId} and type = 'totp' and status = ${status} and id = coalesce(${id ?? null}, id)`
    const step = factor && stepOf(await open(factor.sealed_secret, placeOf(factor.id)), code)
    if (step === undefined) return false
    const used = await inRequest`
      update auth.mfa_factors set last_step = ${step}, last_used_at = now(), status = 'verified',
        verified_at = coalesce(verified_at, now())
      where id = ${factor!.id} and status = ${status} and last_step < ${step} returning id`
    return used.length > 0
  }
}

@Injectable()
export class Recovery {
  /** Codes for an account that has just got its first second factor. @returns `null` for one that has codes already. */
  async begin(userId: string): Promise<string[] | null> {
    await inRequest`select from auth.users where id = ${userId} for no key update` // of two first factors in parallel one gives the codes
    return (await this.countOf(userId)) ? null : this.renew(userId)
  }

  /** New codes, which replace those that there were. They are given out once and cannot be read again. */
  async renew(userId: string): Promise<string[]> {
    const codes = newRecoveryCodes()
    const digests = await Promise.all(codes.map((code) => digestOf(userId, code)))
    await inRequest`delete from auth.recovery_codes where user_id = ${userId}`
    await inRequest`insert into auth.recovery_codes (user_id, digest) select ${userId}, unnest(${digests}::text[])`
    return codes
  }

  /** A code works once, however many try it at the same time. */
  async use(userId: string, code: string): Promise<boolean> {
    const used = await inRequest`
      update auth.recovery_codes set used_at = now()
      where user_id = ${userId} and digest = ${await digestOf(userId, code)} and used_at is null returning user_id`
    return used.length > 0
  }

  /** @returns `null` where the user has none. */
  async countOf(userId: string): Promise<RecoveryCodes | null> {
    const [row] = await inRequest<RecoveryCodes>`
      select count(*)::int as total, count(*) filter (where used_at is null)::int as remaining,
        min(created_at) as created_at from auth.recovery_codes where user_id = ${userId}`
    return row!.total === 0 ? null : row!
  }

  /** @returns how many there were. */
  async remove(userId: string): Promise<number> {
    const removed = await inRequest`delete from auth.recovery_codes where user_id = ${userId} returning user_id`
    return removed.length
  }
}

@Injectable()
export class Challenges {
  /** @param amr methods that the user has proved already. @returns the id that the second step names. */
  async begin(userId: string, amr: string[], origin?: Origin): Promise<string> {
    const id = `chl_${randomText(24)}`
    await inRequest`insert into auth.mfa_challenges (id, user_id, amr, origin)
      values (${id}, ${userId}, ${JSON.stringify(amr)}, ${origin ? JSON.stringify(origin) : null})`
    return id
  }

  /**
   * Counts an attempt, in a transaction of its own. @returns whose challenge it is; `undefined` where it is unknown, over, used, or
   * has had its last attempt.
   */
  async attempt(id: string, sql: Sql): Promise<Challenge | undefined> {
    const [row] = await sql<Challenge>`
      update auth.mfa_challenges set attempts = attempts + 1
      where id = ${id} and consumed_at is null and expires_at > now() and attempts < ${mostAttempts} returning user_id, amr, origin`
    return row
  }

  /** The same without counting: a passkey is asked for before it is tried. */
  async read(id: string): Promise<{ user_id: string; amr: string[] } | undefined> {
    const [row] = await inRequest<{ user_id: string; amr: string[] }>`
      select user_id, amr from auth.mfa_challenges
      where id = ${id} and consumed_at is null and expires_at > now() and attempts < ${mostAttempts}`
    return row
  }

  @Cron('5 * * * *')
  async forgetExpired(): Promise<void> {
    await inRequest`delete from auth.mfa_challenges where expires_at < now()`
  }

  /** Ends every challenge of the user. */
  async forget(userId: string): Promise<void> {
    await inRequest`delete from auth.mfa_challenges where user_id = ${userId}`
  }

  /** @returns whether this call used it up: of attempts in parallel one does. */
  async consume(id: string): Promise<boolean> {
    const rows = await inRequest`
      update auth.mfa_challenges set consumed_at = now() where id = ${id} and consumed_at is null returning id`
    return rows.length > 0
  }
}
