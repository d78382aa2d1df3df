import { Database, Injectable } from '@stack/backend'
import type { ClientInfo } from '../shared/client.ts'
import { authError } from '../shared/errors.ts'

/** Largest number of consents of one user: documents times versions that a person is ever asked about are far fewer. */
const mostConsents = 200

export interface Consent {
  document: string
  version: string
  granted_at: Date
  /** `null` while the consent stands. */
  withdrawn_at: Date | null
}

/** A consent with how it was given, for those who must prove it. */
export interface RecordedConsent extends Consent {
  /** The party that recorded it. A user records a consent in a session of their own. */
  source: 'user'
  /** The address that it came from. */
  ip: string | null
}

@Injectable()
export class Consents {
  recordedOf(userId: string): Promise<RecordedConsent[]> {
    return Database.$asService().sql<RecordedConsent>`
      select document, version, granted_at, withdrawn_at, source, host(ip) as ip from auth.consents where user_id = ${userId}
      order by granted_at desc, document, version`
  }

  ofUser(userId: string): Promise<Consent[]> {
    return Database.$asService().sql<Consent>`
      select document, version, granted_at, withdrawn_at from auth.consents where user_id = ${userId}
      order by granted_at desc, document, version`
  }

  /**
   * Agreeing again renews a consent that was withdrawn. One that stands stays as it is.
   * @returns whether anything changed. @throws HttpError 409 `too_many_consents`
   */
  async grant(userId: string, document: string, version: string, { ip }: ClientInfo): Promise<boolean> {
    await Database.$asService().sql`select from auth.users where id = ${userId} for no key update`
    const [held] = await Database.$asService().sql<{ others: number }>`
      select count(*)::int as others from auth.consents
      where user_id = ${userId} and (document, version) <> (${document}, ${version})`
    if (held!.others >= mostConsents) throw authError('too_many_consents')
    const rows = await Database.$asService().sql`
      insert into auth.consents as held (user_id, document, version, ip) values (${userId}, ${document}, ${version}, ${ip})
      on conflict (user_id, document, version) do update set granted_at = now(), withdrawn_at = null, ip = excluded.ip
        where held.withdrawn_at is not null
      returning document`
    return rows.length > 0
  }

  /** Withdraws every version that stands. @returns how many stood. */
  async withdraw(userId: string, document: string): Promise<number> {
    const rows = await Database.$asService().sql`
      update auth.consents set withdrawn_at = now()
      where user_id = ${userId} and document = ${document} and withdrawn_at is null returning version`
    return rows.length
  }
}
