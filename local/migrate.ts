/** Both schemas, the auth module's first: numbered SQL files, each applied once, in a transaction of its own (contract 5.5). */
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { runner } from 'node-pg-migrate'
import pg from 'pg'

export interface MigrationSet {
  /** Holds `0001_name.sql`, `0002_name.sql` …; may be missing. */
  directory: string
  /** Where the set's own record of what ran is kept. */
  table: string
}

/**
 * Applies what is missing, under an advisory lock that a second run waits for.
 *
 * @returns the names that ran now.
 * @throws Error naming the file and Postgres' own words; the files before it stay applied.
 */
export async function migrate(databaseUrl: string, set: MigrationSet): Promise<string[]> {
  if (!fs.existsSync(set.directory)) return []
  const names = fs.readdirSync(set.directory).filter((name) => name.endsWith('.sql'))
  const unnumbered = names.find((name) => !/^\d+[A-Za-z0-9_.-]*\.sql$/.test(name))
  if (unnumbered !== undefined) {
    throw new Error(
      `${path.join(set.directory, unnumbered)}: a migration's name is its number and then letters, digits, _ . or -, like 0001_tables.sql`,
    )
  }
  if (names.length === 0) return []
  const client = await connect(databaseUrl)
  let current = ''
  try {
    const applied = await runner({
      dbClient: client,
      dir: set.directory,
      ignorePattern: '(?!.*\\.sql$).*',
      direction: 'up',
      migrationsSchema: 'stack',
      createMigrationsSchema: true,
      migrationsTable: set.table,
      singleTransaction: false,
      advisoryLockMode: 'wait',
      logger: {
        debug: () => {},
        info: (line: string) => {
          current = /MIGRATION (\S+)/.exec(line)?.[1] ?? current
        },
        warn: () => {},
        error: () => {},
      },
    })
    return applied.map((migration) => migration.name)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(current ? `migration ${path.join(set.directory, `${current}.sql`)} failed: ${reason}` : reason)
  } finally {
    await client.end().catch(() => {})
  }
}

/** Tables that users may reach and that no policy guards: every user would see every row (contract 5.5). */
export async function unguardedTables(databaseUrl: string): Promise<string[]> {
  const client = await connect(databaseUrl)
  try {
    const { rows } = await client.query<{ name: string }>(
      `select format('%I.%I', nspname, relname) as name
       from pg_class join pg_namespace on pg_namespace.oid = relnamespace
       where relkind in ('r', 'p') and not relrowsecurity and nspname not in ('pg_catalog', 'information_schema')
         and has_any_column_privilege('backend_authenticated', pg_class.oid, 'SELECT, INSERT, UPDATE')
       order by 1`,
    )
    return rows.map(({ name }) => name)
  } finally {
    await client.end().catch(() => {})
  }
}

export interface DatabaseKeys {
  /** HMAC key of the claims, as text (contract 5.3). */
  claimsKey: string
  /** Login name → password. */
  passwords: Record<string, string>
}

/**
 * Gives the logins their passwords, takes back what they have set for themselves, and gives the database its copy of the
 * claims key: what no migration may hold.
 */
export async function installKeys(databaseUrl: string, keys: DatabaseKeys): Promise<void> {
  const client = await connect(databaseUrl)
  try {
    for (const [login, password] of Object.entries(keys.passwords)) {
      const role = client.escapeIdentifier(login)
      await client.query(`alter role ${role} password ${client.escapeLiteral(password)}`)
      await client.query(`alter role ${role} reset all`) // a login may set its own defaults: none of them outlives a start
    }
    const { inner, outer } = hmacPads(keys.claimsKey)
    await client.query(
      `insert into auth.claims_key (inner_pad, outer_pad) values ($1, $2)
       on conflict (singleton) do update set inner_pad = $1, outer_pad = $2`,
      [inner, outer],
    )
  } finally {
    await client.end().catch(() => {})
  }
}

/** RFC 2104: a key longer than the block of 64 bytes is hashed, a shorter one is filled with zeros. */
function hmacPads(key: string): { inner: Buffer; outer: Buffer } {
  const bytes = Buffer.from(key)
  const block = Buffer.alloc(64)
  const fitting = bytes.length > 64 ? createHash('sha256').update(bytes).digest() : bytes
  fitting.copy(block)
  return {
    inner: block.map((byte: number) => byte ^ 0x36) as Buffer,
    outer: block.map((byte: number) => byte ^ 0x5c) as Buffer,
  }
}

/** A server that goes away while nothing is asked of it fails the next query; without a listener it would end the process. */
async function connect(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client(databaseUrl)
  client.on('error', () => {})
  await client.connect()
  return client
}
