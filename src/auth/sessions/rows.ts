import { Database, Injectable } from '@stack/backend'
import { newId } from '../../wire/ids.ts'
import type { User } from '../users/rows.ts'

/** A session ends thirty days after it began, however it is used. */
const longestDays = 30

export interface Session {
  id: string
  auth_time: Date
  refresh_generation: number
}

export interface RefreshState extends Session {
  is_live: boolean
  refresh_recoveries: number
  /** Seconds since the current refresh token was first given out. */
  rotated_ago: number
  user: User
}

@Injectable()
export class Sessions {
  async begin(userId: string): Promise<Session> {
    const [session] = await Database.$asService().sql<Session>`
      insert into auth.sessions (id, user_id, expires_at)
      values (${newId('ses_')}, ${userId}, now() + make_interval(days => ${longestDays}))
      returning id, auth_time, refresh_generation::int`
    return session!
  }

  /** The session and its user, locked: refreshes of one session follow each other. */
  async lockForRefresh(id: string): Promise<RefreshState | undefined> {
    const [state] = await Database.$asService().sql<Omit<RefreshState, 'user'> & User & { session_id: string }>`
      select sessions.id as session_id, auth_time, refresh_generation::int, refresh_recoveries,
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

  async end(id: string, reason: 'reuse_detected'): Promise<void> {
    await Database.$asService().sql`
      update auth.sessions set ended_at = now(), end_reason = ${reason} where id = ${id} and ended_at is null`
  }
}
