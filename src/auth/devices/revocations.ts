import { Database, HttpError, Injectable, Log, Secrets } from '@stack/backend'
import { Audit } from '../audit/rows.ts'
import { inRequest, type Sql } from '../shared/sql.ts'
import { fetchStatusList, type StatusList } from './status-list.ts'

/** Seconds after which the list is fetched again. Google lets it be kept for a day. */
const freshSeconds = 86_400
/** Seconds after which a list that could not be fetched again is too old to trust. */
const usableSeconds = 7 * 86_400
/** Seconds between two attempts while the known list is usable, so that an outage delays one enrolment in a minute. */
const retrySeconds = 60
/** Retry-after of the refusal, in seconds. */
const retryAfter = '60'

interface State {
  etag: string | null
  isFresh: boolean
  isUsable: boolean
  wasJustAttempted: boolean
}

/** Attestation keys that Google has revoked. The list is fetched when a device is enrolled, and no request waits for it. */
@Injectable()
export class Revocations {
  constructor(private readonly audit: Audit) {}

  /**
   * Makes sure that the list is of the last 24 hours, or of the last 7 days while Google cannot be reached. Call it outside of a
   * transaction: it may wait for 5 s.
   * @throws HttpError 503 `unavailable` without such a list.
   */
  async refresh(): Promise<void> {
    const state = await Database.$apart((sql) => this.attempt(sql))
    if (state.isFresh || (state.isUsable && state.wasJustAttempted)) return
    try {
      const list = await fetchStatusList(addressOf(), state.etag)
      await Database.$apart((sql) => this.store(list, sql))
    } catch (error) {
      Log.warn('the list of revoked attestation keys could not be fetched', { error, is_usable: state.isUsable })
      if (state.isUsable) return
      const reason = 'the list of revoked attestation keys cannot be reached: try again later'
      throw new HttpError(503, 'unavailable', reason, { headers: { 'retry-after': retryAfter } })
    }
  }

  /**
   * Whether a certificate of the chain is on the list. Call it in the transaction of the enrolment: a list that arrives at the same
   * moment waits for that transaction, and then revokes its device.
   */
  async isAnyRevoked(serials: readonly string[]): Promise<boolean> {
    await inRequest`select from auth.attestation_status for share`
    const rows =
      await inRequest`select from auth.attestation_revocations where serial = any (${serials}::text[]) limit 1`
    return rows.length > 0
  }

  private async attempt(sql: Sql): Promise<State> {
    const [state] = await sql<State>`
      with known as (select * from auth.attestation_status for update)
      update auth.attestation_status set attempted_at = case
          when known.attempted_at > now() - make_interval(secs => ${retrySeconds}) then known.attempted_at else now() end
      from known
      returning known.etag, coalesce(known.checked_at > now() - make_interval(secs => ${freshSeconds}), false) as "isFresh",
        coalesce(known.checked_at > now() - make_interval(secs => ${usableSeconds}), false) as "isUsable",
        coalesce(known.attempted_at > now() - make_interval(secs => ${retrySeconds}), false) as "wasJustAttempted"`
    return state!
  }

  private async store(list: StatusList | 'unchanged', sql: Sql): Promise<void> {
    if (list === 'unchanged') {
      await sql`update auth.attestation_status set checked_at = now()`
      return
    }
    await sql`update auth.attestation_status set checked_at = now(), etag = ${list.etag}`
    const serials = JSON.stringify(list.serials)
    await sql`
      delete from auth.attestation_revocations
      where serial not in (select jsonb_array_elements_text(${serials}::jsonb))`
    const added = await sql<{ serial: string }>`
      insert into auth.attestation_revocations
      select jsonb_array_elements_text(${serials}::jsonb) on conflict do nothing returning serial`
    if (added.length > 0) await this.revoke(JSON.stringify(added.map(({ serial }) => serial)), sql)
  }

  /** A key that was trusted yesterday and leaked today proves nothing about the devices below it. */
  private async revoke(serials: string, sql: Sql): Promise<void> {
    const revoked = await sql`
      update auth.devices set revoked_at = now(), revoke_reason = 'chain_revoked'
      where revoked_at is null and chain_serials && array(select jsonb_array_elements_text(${serials}::jsonb)) returning id`
    if (revoked.length === 0) return
    const details = { devices: revoked.length }
    const actor = { type: 'system' } as const
    await this.audit.record({ event: 'device.revoked', reason: 'chain_revoked', actor, details }, sql)
  }
}

/** The binding replaces Google's address, for a mirror of one's own. */
function addressOf(): string | undefined {
  try {
    return Secrets.get('ANDROID_STATUS_URL')
  } catch {
    return undefined
  }
}
