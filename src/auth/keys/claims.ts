import { Cron, Injectable, Log } from '@stack/backend'
import { hmacPads } from '../../wire/claims-key.ts'
import { newId } from '../../wire/ids.ts'
import { randomText } from '../shared/base64url.ts'
import { open, seal } from '../shared/seal.ts'
import { inRequest } from '../shared/sql.ts'
import type { KeyRecord } from './overlap.ts'

/** Advisory lock under which these keys are rotated, one at a time. The number names nothing else. */
const rotationLock = 7_301_203

/**
 * Seconds in which a second rotation is the first one again. A worker asks for new keys every 5 s, and a transaction takes 30 s: by then
 * every signature is of the new key.
 */
const settledSeconds = 60

/** The decision of a rotation. */
export interface ClaimsRotation {
  /** The key that signs from now on. */
  id: string
  /** `null` where there was none. */
  previous_id: string | null
  /** SQL refuses signatures of the previous key from then on. */
  previous_valid_until: Date | null
}

/** The row that a sealed key belongs to: moved to another row, it does not open. */
export const placeOf = (id: string) => `claims key ${id}`

/**
 * The keys that sign the claims of a request for SQL (contract 5.3). A rotated one is accepted as soon as its row is committed, and the
 * workers sign with it once they have it. The one before is accepted until the overlap ends.
 */
@Injectable()
export class ClaimsKeys {
  /** The key that was opened last in this isolate. */
  private opened: { sealed: string; key: string } | undefined

  /** Called by the worker itself. @returns the key that signs, or `undefined` while it is the binding. */
  async current(): Promise<string | undefined> {
    const [row] = await inRequest<{ id: string; sealed: string | null }>`
      select id, sealed from auth.claims_keys order by position desc limit 1`
    if (!row || row.sealed === null) return undefined
    const { id, sealed } = row
    if (this.opened?.sealed !== sealed) this.opened = { sealed, key: await open(sealed, placeOf(id)) }
    return this.opened.key
  }

  /** @returns the rotation, and whether this call decided it: one that is under way is returned as it is, unless the overlap is 0. */
  async rotate(overlapSeconds: number): Promise<{ rotation: ClaimsRotation; isNew: boolean }> {
    await inRequest`select pg_advisory_xact_lock(${rotationLock})`
    const [latest] = await inRequest<{ id: string; is_settled: boolean }>`
      select id, id = 'binding' or created_at < clock_timestamp() - make_interval(secs => ${settledSeconds}) as is_settled
      from auth.claims_keys order by position desc limit 1`
    if (latest && !latest.is_settled && overlapSeconds > 0) return { rotation: await this.latest(), isNew: false }
    await inRequest`
      update auth.claims_keys
      set accepted_until = least(accepted_until, clock_timestamp() + make_interval(secs => ${overlapSeconds}))
      where accepted_until is null or accepted_until > clock_timestamp()`
    const [id, key] = [newId('clk_'), randomText(32)]
    const { inner, outer } = await hmacPads(key)
    await inRequest`
      insert into auth.claims_keys (id, inner_pad, outer_pad, sealed)
      values (${id}, ${inner}, ${outer}, ${await seal(key, placeOf(id))})`
    return { rotation: await this.latest(), isNew: true }
  }

  async list(): Promise<KeyRecord[]> {
    return inRequest<KeyRecord>`
      select 'claims' as kind, id, case when position = max(position) over () then 'current'
          when accepted_until > now() then 'previous' else 'ended' end as state,
        case id when 'binding' then 'binding' else 'module' end as source, created_at, accepted_until as valid_until
      from auth.claims_keys order by position desc`
  }

  /** Each hour: forgets the keys that were made here and ended a day ago. */
  @Cron('5 * * * *')
  async forgetEnded(): Promise<void> {
    const forgotten = await inRequest`
      delete from auth.claims_keys where id <> 'binding' and accepted_until < now() - interval '1 day' returning id`
    if (forgotten.length > 0) Log.info('ended keys of the claims are forgotten', { count: forgotten.length })
  }

  private async latest(): Promise<ClaimsRotation> {
    const [row] = await inRequest<ClaimsRotation>`
      select id, lag(id) over rotations as previous_id, lag(accepted_until) over rotations as previous_valid_until
      from auth.claims_keys window rotations as (order by position) order by position desc limit 1`
    return row!
  }
}
