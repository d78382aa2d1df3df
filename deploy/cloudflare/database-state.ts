/** The state of a database before a push changes anything, and the lock that keeps other pushes out. */
import { createHash } from 'node:crypto'
import type pg from 'pg'
import { connectOwner, ownerConfig, ownerUrl } from '../postgres/connection.ts'
import { PushFault } from './fault.ts'

export interface DatabaseState {
  /** The stack has sealed or hashed something here: its keys must not be replaced. */
  isUsed: boolean
  hasClaimsKey: boolean
  /** Names the verifiers of the logins. Empty where there are none. */
  verifiers: string
}

/** Key of the advisory lock of a push: "stackpsh" as ASCII, which another program is unlikely to use. */
const lockKey = '8319395793567937384'

export interface DatabaseSession {
  state(): Promise<DatabaseState>
  end(): Promise<void>
}

/**
 * Connects as the owner, and keeps every other push of this database out until the session ends: two first pushes would give it
 * different keys. The lock ends with the connection, so a push that is killed holds none.
 */
export async function openSession(url: string, ca: string | undefined): Promise<DatabaseSession> {
  const client = await connectOwner(ownerConfig(ownerUrl(url), ca))
  const end = () => client.end().catch(() => {})
  try {
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [lockKey])
    if (!rows[0]!.locked)
      throw new PushFault('refused', 'another push of this environment is under way: wait for its end')
  } catch (error) {
    await end()
    throw error
  }
  return { state: () => readState(client), end }
}

async function readState(client: pg.Client): Promise<DatabaseState> {
  const { rows } = await client.query<{ has_auth: boolean; has_verifiers: boolean; claims_table: string }>(
    `select to_regclass('auth.signing_keys') is not null as has_auth,
       to_regclass('stack.login_verifiers') is not null as has_verifiers,
       coalesce(to_regclass('auth.claims_keys'), to_regclass('auth.claims_key'))::text as claims_table`,
  )
  // a database of an earlier version has the claims key in a table of another name
  const { has_auth: hasAuth, has_verifiers: hasVerifiers, claims_table: claimsTable } = rows[0]!
  if (!hasAuth) return { isUsed: false, hasClaimsKey: false, verifiers: '' }
  const verifiers = hasVerifiers
    ? (await client.query<{ verifier: string }>('select verifier from stack.login_verifiers order by login')).rows
    : []
  await client.query('begin')
  try {
    await client.query('set local role auth_admin') // the owner of the database does not own these tables
    const { rows: used } = await client.query<{ is_used: boolean; has_claims_key: boolean }>(
      `select exists (select from auth.signing_keys) or exists (select from auth.users) as is_used,
         exists (select from ${claimsTable}) as has_claims_key`,
    )
    const { is_used: isUsed, has_claims_key: hasClaimsKey } = used[0]!
    return { isUsed, hasClaimsKey, verifiers: verifiers.length > 0 ? digestOf(verifiers) : '' }
  } finally {
    await client.query('rollback')
  }
}

function digestOf(verifiers: readonly { verifier: string }[]): string {
  return createHash('sha256')
    .update(verifiers.map(({ verifier }) => verifier).join(' '))
    .digest('hex')
    .slice(0, 16)
}
