/** Both schemas, the auth module's first: numbered SQL files, each applied once, in a transaction of its own (contract 5.5). */
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

/** A server that goes away while nothing is asked of it fails the next query; without a listener it would end the process. */
export async function connect(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client(databaseUrl)
  client.on('error', () => {})
  await client.connect()
  return client
}
