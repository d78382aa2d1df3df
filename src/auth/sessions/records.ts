import { Database, Injectable } from '@stack/backend'
import type { Position } from '../shared/cursor.ts'
import { type Device, deviceOf } from '../shared/device.ts'
import { parameters } from '../shared/list.ts'

/** `expired` is a session whose time has run out before it was ended. */
export const sessionStatuses = ['active', 'ended', 'expired'] as const
type SessionStatus = (typeof sessionStatuses)[number]

/** A session as the management surface shows it. */
export interface SessionRecord {
  id: string
  user_id: string
  email: string | null
  status: SessionStatus
  created_at: Date
  last_used_at: Date
  expires_at: Date
  ended_at: Date | null
  end_reason: string | null
  aal: 'aal1' | 'aal2'
  /** Methods that the user proved, as RFC 8176 names them. */
  amr: string[]
  auth_time: Date
  provider: string | null
  client_key: string | null
  platform: string | null
  application_key: string | null
  ip: string | null
  country: string | null
  user_agent: string | null
  device: Device
}

export interface SessionFilters {
  status: SessionStatus
  user_id: string | undefined
  ip: string | undefined
}

type Row = Omit<SessionRecord, 'device'> & { place: string }

/** Which rows have a status, and the column of their order. Each has an index in that order. */
const selections: Record<SessionStatus, { where: string; order: 'created_at' | 'expires_at' }> = {
  active: { where: 'ended_at is null and expires_at > now()', order: 'created_at' },
  ended: { where: 'ended_at is not null', order: 'created_at' },
  expired: { where: 'ended_at is null and expires_at <= now()', order: 'expires_at' },
}

const columns = `sessions.id, user_id, email,
  case when ended_at is not null then 'ended' when expires_at <= now() then 'expired' else 'active' end as status,
  sessions.created_at, last_used_at, expires_at, ended_at, end_reason, aal, amr, auth_time, provider, client_key, platform,
  application_key, host(ip) as ip, country, user_agent`

/** Sessions that one call of `endOf` ends at most, because a statement has a time limit. */
export const mostEnded = 1_000

/** The sessions of all users, for those who administer them. */
@Injectable()
export class SessionRecords {
  /**
   * The newest first. Expired sessions come in the order in which they expired.
   * @param limit number of rows. @param after the position of the last row of the page before.
   */
  async list(
    { status, user_id, ip }: SessionFilters,
    limit: number,
    after: Position | undefined,
  ): Promise<{ record: SessionRecord; position: Position }[]> {
    const { values, bind } = parameters()
    const { where, order } = selections[status]
    const conditions = [
      where,
      ...(user_id === undefined ? [] : [`user_id = ${bind(user_id)}`]),
      ...(ip === undefined ? [] : [`ip = ${bind(ip)}::inet`]),
      ...(after ? [`(sessions.${order}, sessions.id) < (${bind(after[0])}::timestamptz, ${bind(after[1])})`] : []),
    ]
    // a Date has milliseconds, and the column has microseconds: the position is text
    const rows = await Database.$asService().query<Row>(
      `select ${columns}, to_char(sessions.${order} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as place
      from auth.sessions join auth.users on users.id = user_id
      where ${conditions.join(' and ')} order by sessions.${order} desc, sessions.id desc limit ${bind(limit)}`,
      values,
    )
    return rows.map((row) => ({ record: recordOf(row), position: [row.place, row.id] }))
  }

  async byId(id: string): Promise<SessionRecord | undefined> {
    const [row] = await Database.$asService().query<Row>(
      `select ${columns} from auth.sessions join auth.users on users.id = user_id where sessions.id = $1`,
      [id],
    )
    return row && recordOf(row)
  }

  /** Every session of the user that is still kept, the newest first. */
  async allOf(userId: string, limit: number): Promise<SessionRecord[]> {
    const rows = await Database.$asService().query<Row>(
      `select ${columns} from auth.sessions join auth.users on users.id = user_id
      where user_id = $1 order by sessions.created_at desc, sessions.id desc limit $2`,
      [userId, limit],
    )
    return rows.map(recordOf)
  }

  /** Ends at most 1,000 live sessions of these users. @returns how many were ended, by user. */
  async endOf(userIds: readonly string[]): Promise<{ user_id: string; ended: number }[]> {
    return Database.$asService().sql<{ user_id: string; ended: number }>`
      with live as (select id from auth.sessions where user_id = any (${userIds}::text[]) and ended_at is null
          order by id limit ${mostEnded} for update),
        ended as (update auth.sessions set ended_at = now(), end_reason = 'revoked_all' from live
          where sessions.id = live.id returning user_id)
      select user_id, count(*)::int as ended from ended group by user_id order by user_id`
  }
}

function recordOf({ place: _, ...row }: Row): SessionRecord {
  return { ...row, device: deviceOf(row.user_agent) }
}
