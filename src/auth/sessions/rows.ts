import { Cron, Database, HttpError, Injectable } from '@stack/backend'
import { newId } from '../../wire/ids.ts'
import type { ClientInfo } from '../shared/client.ts'
import { type Device, deviceOf } from '../shared/device.ts'
import type { Sql } from '../shared/sql.ts'
import type { User } from '../users/rows.ts'

/** Days after which a session ends, however it is used (OWASP ASVS 10.4.8). */
const longestDays = 30

/** Days that an ended session is kept, for the person who asks which devices were signed in. */
const keptDays = 30

export interface Session {
  id: string
  auth_time: Date
  aal: 'aal1' | 'aal2'
  /** Methods that the user proved, as RFC 8176 names them. */
  amr: string[]
  refresh_generation: number
}

/** The provider that vouched for the user of a session, and the client that the application used. */
export interface Origin {
  provider: string
  client_key: string
  platform: 'web' | 'ios' | 'android'
  application_key: string
}

export interface RefreshState extends Session {
  is_live: boolean
  refresh_recoveries: number
  /** Seconds since the current refresh token was first given out. */
  rotated_ago: number
  user: User
}

export interface Caller {
  id: string
  sessionId: string
  isGuest: boolean
}

/** A live session as its owner sees it. */
export interface OwnSession {
  id: string
  created_at: Date
  last_used_at: Date
  expires_at: Date
  aal: 'aal1' | 'aal2'
  amr: string[]
  ip: string | null
  country: string | null
  user_agent: string | null
  device: Device
  /** The session of this very request. */
  is_current: boolean
}

export type EndReason =
  | 'signed_out'
  | 'revoked'
  | 'revoked_all'
  | 'reuse_detected'
  | 'password_changed'
  | 'user_disabled'
  | 'credential_revoked'
  | 'mfa_reset'

@Injectable()
export class Sessions {
  /** @returns also whether the account was in use, and never from a program like this one in the last 30 days. */
  async begin(
    userId: string,
    amr: string[],
    client: ClientInfo,
    origin?: Origin,
  ): Promise<Session & { isNewDevice: boolean }> {
    const [session] = await Database.$asService().sql<Session & { isNewDevice: boolean }>`
      with earlier as (
        select count(*) > 0 and count(*) filter (where user_agent is not distinct from ${client.user_agent}) = 0 as is_new
        from auth.sessions where user_id = ${userId})
      insert into auth.sessions (id, user_id, expires_at, aal, amr, ip, country, user_agent,
        provider, client_key, platform, application_key)
      values (${newId('ses_')}, ${userId}, now() + make_interval(days => ${longestDays}), ${amr.includes('mfa') ? 'aal2' : 'aal1'}, ${JSON.stringify(amr)},
        ${client.ip}, ${client.country}, ${client.user_agent},
        ${origin?.provider ?? null}, ${origin?.client_key ?? null}, ${origin?.platform ?? null}, ${origin?.application_key ?? null})
      returning id, auth_time, aal, amr, refresh_generation::int, (select is_new from earlier) as "isNewDevice"`
    return session!
  }

  /**
   * The caller and their session, for handlers that hash a password: `@User()` would hold a connection meanwhile (contract 2.15).
   * @param sql of a short transaction. @throws HttpError 401 without a valid token.
   */
  async caller(sql: Sql): Promise<Caller> {
    const [claims] = await sql<Caller | { id: null }>`
      select auth.uid() as id, auth.jwt() ->> 'session_id' as "sessionId", auth.jwt() ->> 'role' = 'anon' as "isGuest"`
    if (claims!.id === null) throw new HttpError(401, 'unauthorized', 'a valid access token is required')
    return claims as Caller
  }

  /** The caller's user id and whether it is a guest's, for routes that no caller must call. @param sql of a short transaction. */
  async callerIfAny(sql: Sql): Promise<{ id: string; isGuest: boolean } | undefined> {
    const [claims] = await sql<{ id: string | null; isGuest: boolean }>`
      select auth.uid() as id, coalesce(auth.jwt() ->> 'role' = 'anon', false) as "isGuest"`
    return claims!.id === null ? undefined : { id: claims!.id, isGuest: claims!.isGuest }
  }

  /** The id of the session that the caller's access token names: the claims are those that the runtime has verified. */
  async current(): Promise<string> {
    const [claims] = await Database.sql<{ session_id: string }>`select auth.jwt() ->> 'session_id' as session_id`
    return claims!.session_id
  }

  /** Whether a second factor was proved in the session. */
  async isRaised(id: string): Promise<boolean> {
    const rows = await Database.$asService().sql`select from auth.sessions where id = ${id} and aal = 'aal2'`
    return rows.length > 0
  }

  /** The session has proved more. @param methods as RFC 8176 names them. */
  async raise(id: string, methods: readonly string[]): Promise<void> {
    await Database.$asService().sql`
      update auth.sessions set aal = 'aal2', auth_time = now(),
        amr = (select jsonb_agg(distinct one) from jsonb_array_elements(amr || ${JSON.stringify([...methods, 'mfa'])}::jsonb) one)
      where id = ${id}`
  }

  /**
   * The common case of a refresh, in one statement: the token is the current one of a live session, and is replaced.
   * @returns `undefined` in every other case, in which nothing is changed. `lockForRefresh` tells which one it is.
   */
  async rotateCurrent(id: string, generation: number): Promise<(Session & { user: User }) | undefined> {
    const [row] = await Database.$asService().sql<Session & User & { session_id: string }>`
      update auth.sessions set refresh_generation = refresh_generation + 1, refresh_rotated_at = clock_timestamp(), last_used_at = now()
      from auth.users
      where sessions.id = ${id} and users.id = user_id and refresh_generation = ${generation} and ended_at is null
        and expires_at > now() and disabled_at is null
      returning sessions.id as session_id, auth_time, aal, amr, refresh_generation::int, users.*,
        exists (select from auth.operators where operators.user_id = users.id) as is_operator`
    if (!row) return undefined
    const { session_id, id: userId, ...rest } = row
    return { ...rest, id: session_id, user: { ...rest, id: userId } }
  }

  /** The session and its user, locked: refreshes of one session follow each other. */
  async lockForRefresh(id: string): Promise<RefreshState | undefined> {
    const [state] = await Database.$asService().sql<Omit<RefreshState, 'user'> & User & { session_id: string }>`
      select sessions.id as session_id, auth_time, aal, amr, refresh_generation::int, refresh_recoveries,
        ended_at is null and expires_at > now() as is_live,
        extract(epoch from clock_timestamp() - refresh_rotated_at)::float8 as rotated_ago, users.*,
        exists (select from auth.operators where operators.user_id = users.id) as is_operator
      from auth.sessions join auth.users on users.id = user_id
      where sessions.id = ${id} for update of sessions`
    if (!state) return undefined
    const { session_id, id: userId, ...rest } = state
    return { ...rest, id: session_id, user: { ...rest, id: userId } }
  }

  /** @param isRecovery the parent of the current token was presented late. */
  async rotate(id: string, isRecovery: boolean): Promise<void> {
    await Database.$asService().sql`
      update auth.sessions set refresh_generation = refresh_generation + 1, refresh_rotated_at = clock_timestamp(),
        last_used_at = now(), refresh_recoveries = refresh_recoveries + ${isRecovery ? 1 : 0}
      where id = ${id}`
  }

  /** Forgets sessions that ended long ago, each night. Their tokens have expired, and the audit trail has their entries. */
  @Cron('17 3 * * *')
  async forgetEnded(): Promise<void> {
    await Database.$asService().sql`
      delete from auth.sessions where coalesce(ended_at, expires_at) < now() - make_interval(days => ${keptDays})`
  }

  /** Newest first. */
  async ofUser(userId: string, current: string): Promise<OwnSession[]> {
    const rows = await Database.$asService().sql<Omit<OwnSession, 'device'>>`
      select id, created_at, last_used_at, expires_at, aal, amr, host(ip) as ip, country, user_agent,
        id = ${current} as is_current
      from auth.sessions where user_id = ${userId} and ended_at is null and expires_at > now()
      order by created_at desc, id desc limit 500`
    return rows.map((row) => ({ ...row, device: deviceOf(row.user_agent) }))
  }

  /** Ends one live session. @returns whether there was one. */
  async end(id: string, reason: EndReason): Promise<boolean> {
    const ended = await Database.$asService().sql`
      update auth.sessions set ended_at = now(), end_reason = ${reason} where id = ${id} and ended_at is null returning id`
    return ended.length > 0
  }

  /** @param kept the id of a session that stays. @returns the ids of those that were ended. */
  async endAll(userId: string, reason: EndReason, kept: string | null = null): Promise<string[]> {
    const ended = await Database.$asService().sql<{ id: string }>`
      update auth.sessions set ended_at = now(), end_reason = ${reason}
      where user_id = ${userId} and ended_at is null and id is distinct from ${kept} returning id`
    return ended.map(({ id }) => id)
  }

  /** Ends the sessions of the user that have proved a second factor. @returns how many. */
  async endRaised(userId: string, reason: EndReason): Promise<number> {
    const ended = await Database.$asService().sql`
      update auth.sessions set ended_at = now(), end_reason = ${reason}
      where user_id = ${userId} and ended_at is null and aal = 'aal2' returning id`
    return ended.length
  }

  /** Whether the session is one of the user's own, ended or not. */
  async isOf(id: string, userId: string): Promise<boolean> {
    const rows = await Database.$asService().sql`select from auth.sessions where id = ${id} and user_id = ${userId}`
    return rows.length > 0
  }
}
