import { Database } from '@stack/backend'
import { authError } from './errors.ts'
import type { Sql } from './sql.ts'

/** Seconds after a sign-in in which an account's second factors may be changed, or the account be deleted (OWASP ASVS 7.5.1). */
const recentSeconds = 600

/**
 * @param sql of a short transaction, for a handler that must hold no connection.
 * @throws HttpError 403 `recent_sign_in_required` where the caller's token is of an older sign-in, or does not say of which.
 */
export async function requireRecent(sql: Sql = Database.sql): Promise<void> {
  const [claims] = await sql<{ age: number | null }>`
    select extract(epoch from now())::float8 - (auth.jwt() ->> 'auth_time')::float8 as age`
  if ((claims!.age ?? Number.POSITIVE_INFINITY) >= recentSeconds) throw authError('recent_sign_in_required')
}
