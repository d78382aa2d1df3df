/** Installs the secrets that no migration may hold: the passwords of the logins and the claims key. */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import type pg from 'pg'
import { hmacPads } from '../src/wire/claims-key.ts'
import { connect } from './database.ts'

export interface DatabaseKeys {
  /** HMAC key of the claims, as text (contract 5.3). */
  claimsKey: string
  /** Login name → password. */
  passwords: Record<string, string>
}

/**
 * Gives the logins their passwords and keeps the verifiers for `auth.repair_logins()`, which also takes back what the logins
 * have set for themselves (contract 5.7). Gives the database its copy of the claims key.
 *
 * @param databaseUrl of the owner, after the migrations.
 */
export async function installKeys(databaseUrl: string, keys: DatabaseKeys): Promise<void> {
  const client = await connect(databaseUrl)
  try {
    await client.query('begin')
    await keepVerifiers(client, keys.passwords)
    await client.query('select auth.repair_logins()')
    await putClaimsKey(client, keys.claimsKey)
    await client.query('commit')
  } finally {
    await client.end().catch(() => {})
  }
}

/** Keeps the verifiers that `auth.repair_logins()` restores. */
export async function keepVerifiers(client: pg.Client, passwords: DatabaseKeys['passwords']): Promise<void> {
  for (const [login, password] of Object.entries(passwords)) {
    await client.query(
      `insert into stack.login_verifiers (login, verifier) values ($1, $2)
       on conflict (login) do update set verifier = excluded.verifier`,
      [login, scramVerifier(password)],
    )
  }
}

/** Gives the database its copy of the claims key. The rest of the transaction runs as `auth_admin`. */
export async function putClaimsKey(client: pg.Client, key: string): Promise<void> {
  const { inner, outer } = await hmacPads(key)
  // auth_admin owns the table and could have added a trigger, which must not run with the rights of the database's owner.
  await client.query('set local role auth_admin')
  await client.query(
    // a rotation has perhaps ended this very key: only another one is accepted again
    `insert into auth.claims_keys (id, inner_pad, outer_pad) values ('binding', $1, $2)
     on conflict (id) do update set inner_pad = $1, outer_pad = $2, accepted_until = null where claims_keys.inner_pad <> $1`,
    [Buffer.from(inner), Buffer.from(outer)],
  )
}

/** Iterations of SCRAM, Postgres' default. The passwords are 256 random bits, which more iterations would not protect further. */
const iterations = 4096

/**
 * The verifier that Postgres stores of a password (RFC 5803). It is computed here because only a superuser could read it back.
 * @param password ASCII, which SASLprep leaves unchanged.
 */
function scramVerifier(password: string, salt = randomBytes(16)): string {
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256')
  const keyed = (text: string) => createHmac('sha256', salted).update(text).digest()
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${keyed('Server Key').toString('base64')}`
}

/** @param verifier made by `scramVerifier`. @returns whether it is that of the password. */
export function isVerifierOf(verifier: string, password: string): boolean {
  const [, salt] = /^SCRAM-SHA-256\$\d+:([^$]+)\$/.exec(verifier) ?? []
  return salt !== undefined && scramVerifier(password, Buffer.from(salt, 'base64')) === verifier
}
