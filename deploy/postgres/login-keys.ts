/** The passwords of the logins and the claims key, in a database that several machines may serve. */
import type pg from 'pg'
import { isVerifierOf, keepVerifiers, putClaimsKey } from '../../local/logins.ts'
import { hmacPads } from '../../src/wire/claims-key.ts'
import { connectOwner, type LoginPasswords } from './connection.ts'

export interface StackKeys {
  /** Without them the logins keep the passwords that they were given last. */
  passwords?: LoginPasswords | undefined
  /** HMAC key of the claims, as text (contract 5.3). Without it the database keeps its copy. */
  claimsKey?: string | undefined
  /** Replaces keys of this database that are not these. Other machines that use those are cut off. */
  replace: boolean
}

/** The database has other keys than this machine. */
export class KeysDiffer extends Error {
  override name = 'KeysDiffer'
  readonly which: readonly ('passwords' | 'claimsKey')[]

  constructor(which: readonly ('passwords' | 'claimsKey')[]) {
    const names = which.map((one) => (one === 'passwords' ? 'other login passwords' : 'another claims key'))
    super(`the database was given ${names.join(' and ')} than those of this machine: another machine serves this stack`)
    this.which = which
  }
}

/** @throws KeysDiffer, unless `replace` is set. A database without keys differs from none. */
export async function requireSameKeys(client: pg.Client, { passwords, claimsKey, replace }: StackKeys): Promise<void> {
  if (replace) return
  const { rows } = await client.query<{ verifiers: boolean; claims: boolean }>(
    `select to_regclass('stack.login_verifiers') is not null as verifiers, to_regclass('auth.claims_keys') is not null as claims`,
  )
  const differing: ('passwords' | 'claimsKey')[] = []
  if (rows[0]!.verifiers && passwords) {
    const { rows: kept } = await client.query<{ login: keyof LoginPasswords; verifier: string }>(
      'select login, verifier from stack.login_verifiers',
    )
    if (kept.some(({ login, verifier }) => !isVerifierOf(verifier, passwords[login]))) differing.push('passwords')
  }
  if (rows[0]!.claims && claimsKey !== undefined) {
    const { inner } = await hmacPads(claimsKey)
    const { rows: pads } = await client.query<{ inner_pad: Buffer }>(
      `select inner_pad from auth.claims_keys where id = 'binding'`,
    )
    if (pads.length > 0 && !pads.some(({ inner_pad }) => inner_pad.equals(Buffer.from(inner))))
      differing.push('claimsKey')
  }
  if (differing.length > 0) throw new KeysDiffer(differing)
}

/**
 * Gives the logins their passwords and the database its claims key, in one transaction. A verifier that fits is kept: the workers of
 * other machines are connected by it.
 *
 * @returns whether the server took verifiers. Neon takes clear-text passwords alone, which cannot be kept for a repair.
 */
export async function installStackKeys(config: pg.ClientConfig, keys: StackKeys): Promise<boolean> {
  try {
    await inTransaction(config, async (client) => {
      await lockRepair(client)
      if (keys.passwords) await keepNewVerifiers(client, keys.passwords)
      await client.query('select auth.repair_logins()')
      if (keys.claimsKey !== undefined) await putClaimsKey(client, keys.claimsKey)
    })
    return true
  } catch (error) {
    if (!refusesVerifiers(error)) throw error
  }
  await inTransaction(config, async (client) => {
    await lockRepair(client)
    for (const [login, password] of Object.entries(keys.passwords ?? {})) {
      await client.query(`alter role ${client.escapeIdentifier(login)} password ${client.escapeLiteral(password)}`)
    }
    await client.query('delete from stack.login_verifiers')
    if (keys.claimsKey !== undefined) await putClaimsKey(client, keys.claimsKey)
  })
  return false
}

/** Two machines that start at once would update the same rows of the catalog. The key is that of `auth.repair_logins()`. */
async function lockRepair(client: pg.Client): Promise<void> {
  await client.query('select pg_advisory_xact_lock(7301202)')
}

async function keepNewVerifiers(client: pg.Client, passwords: LoginPasswords): Promise<void> {
  const { rows } = await client.query<{ login: keyof LoginPasswords; verifier: string }>(
    'select login, verifier from stack.login_verifiers',
  )
  const fitting = rows
    .filter(({ login, verifier }) => isVerifierOf(verifier, passwords[login]))
    .map(({ login }) => login)
  await keepVerifiers(
    client,
    Object.fromEntries(Object.entries(passwords).filter(([login]) => !fitting.includes(login as keyof LoginPasswords))),
  )
}

/** Neon hands each password to its control plane at COMMIT, which refuses one that is hashed already. */
function refusesVerifiers(error: unknown): boolean {
  return error instanceof Error && /plaintext passwords/i.test(error.message)
}

async function inTransaction(config: pg.ClientConfig, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = await connectOwner(config)
  try {
    await client.query('begin')
    await work(client)
    const { command } = await client.query('commit')
    if (command !== 'COMMIT') throw new Error('Postgres rolled the keys of the stack back: nothing was installed')
  } finally {
    await client.end().catch(() => {})
  }
}
