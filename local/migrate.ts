/**
 * The schemas of a stack: numbered SQL files, each applied once, all that are pending in one transaction (contract 5.5).
 * The runner is our own because none on npm checks the text of an applied file and runs several folders in one transaction.
 */
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { byNumber, migrationName, migrationsIn } from '../build/read/migrations.ts'
import { type SqlStatement, statementsOf } from '../build/read/sql.ts'
import { projectPaths } from '../src/wire/project-paths.ts'

export interface MigrationSet {
  name: 'auth' | 'runtime' | 'project'
  /** Holds `0001_name.sql`, `0002_name.sql` …; may be missing. */
  directory: string
}

/** Migrations that ran in a transaction which is still open: no other session sees any of it. */
export interface OpenMigrations {
  /** Names of the files that ran now, in their order. */
  applied: string[]
  /** @throws Error when Postgres refuses the commit: then nothing is applied. */
  commit(): Promise<void>
  /** After a commit it changes nothing. */
  rollback(): Promise<void>
}

const packageRoot = path.resolve(import.meta.dirname, '..')

/** In the order in which they run: a project's tables refer to the schema `auth`. @param root absolute: the project's. */
export function setsOf(root: string): MigrationSet[] {
  return [
    { name: 'auth', directory: path.join(packageRoot, 'src/auth/schema') },
    { name: 'runtime', directory: path.join(packageRoot, 'runtime/schema') },
    { name: 'project', directory: path.join(root, projectPaths.migrations) },
  ]
}

/** Runs what is pending and commits it. @returns and @throws as `openMigrations` does. */
export async function migrate(databaseUrl: string, sets: readonly MigrationSet[]): Promise<string[]> {
  const migrations = await openMigrations(databaseUrl, sets)
  await migrations.commit()
  return migrations.applied
}

/**
 * Runs what is pending, in the order of the sets, in a transaction that stays open. A second run waits until the first one
 * has ended; one that is killed leaves nothing behind.
 *
 * @param databaseUrl the owner's.
 * @throws Error with a sentence that names the file, and the line where one is known. Nothing is applied then.
 */
export async function openMigrations(databaseUrl: string, sets: readonly MigrationSet[]): Promise<OpenMigrations> {
  const files = sets.flatMap(filesOf)
  const client = await connect(databaseUrl)
  const end = () => client.end().catch(() => {})
  try {
    await client.query('begin')
    // the schema of the history is made under the lock as well: two first runs would both make it
    await client.query('select pg_advisory_xact_lock($1)', [lockKey])
    await client.query(freshSettings)
    const pending = pendingOf(files, sets, await readHistory(client, files))
    for (const file of pending) refuseTransactionControl(file)
    for (const file of pending) await apply(client, file)
    await client.query('set constraints all immediate').catch((error: Error) => {
      throw new Error(`the migrations leave a deferred constraint violated: ${error.message}. Nothing was migrated`)
    })
    await refuseOpenRelations(client)
    let isOpen = true
    const close = async (command: 'commit' | 'rollback') => {
      if (!isOpen) return
      isOpen = false
      try {
        const { command: tag } = await client.query(command)
        if (tag !== command.toUpperCase()) throw new Error('Postgres rolled the migrations back: nothing is applied')
      } finally {
        await end()
      }
    }
    return {
      applied: pending.map(({ name }) => name),
      commit: () => close('commit'),
      rollback: () => close('rollback').catch(() => {}), // without a connection there is no transaction either
    }
  } catch (error) {
    await end() // which rolls back
    throw error
  }
}

/** Key of the advisory lock: "stackmig" as ASCII, which no other program is likely to use. */
const lockKey = '8319395793567836519'

/**
 * What one file sets counts for that file, as if each ran in a session of its own. A transaction that waits for a build is
 * not cut off for being idle.
 */
const freshSettings = `set session authorization default; reset role; reset all;
  set local idle_in_transaction_session_timeout = 0`

interface MigrationFile {
  set: MigrationSet['name']
  name: string
  /** The name as a person reads it. */
  shown: string
  sql: string
  checksum: string
}

function filesOf({ name: set, directory }: MigrationSet): MigrationFile[] {
  return migrationsIn(directory).map((name) => {
    const shown = path.join(directory, name)
    if (!migrationName.test(name)) {
      throw new Error(
        `${shown}: a migration's name is its number and then letters, digits, _ . or -, like 0001_tables.sql`,
      )
    }
    const sql = textOf(shown)
    // a checkout with other line ends is no edit
    const checksum = createHash('sha256').update(sql.replaceAll('\r\n', '\n')).digest('hex')
    return { set, name, shown, sql, checksum }
  })
}

/** @throws Error where Postgres would read something else than is written. */
function textOf(file: string): string {
  let sql: string
  try {
    sql = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(fs.readFileSync(file)) // without a byte order mark
  } catch (error) {
    throw error instanceof TypeError ? new Error(`${file} is not UTF-8 text: save it as UTF-8`) : error
  }
  const zero = sql.indexOf('\0')
  if (zero !== -1)
    throw new Error(`${file}:${lineAt(sql, zero)} holds a NUL character, where Postgres would stop reading`)
  return sql
}

interface Applied {
  set_name: MigrationSet['name']
  name: string
  checksum: string
}

/** What ran in this database, in the order in which it ran. */
async function readHistory(client: pg.Client, files: readonly MigrationFile[]): Promise<Applied[]> {
  const { rows } = await client.query<{ exists: boolean }>(
    `select to_regclass('stack.migrations') is not null as exists`,
  )
  if (!rows[0]!.exists) {
    await client.query(`create schema if not exists stack;
      create table stack.migrations (
        set_name text not null,
        name text not null,
        checksum text not null,
        applied_at timestamptz not null default now(),
        primary key (set_name, name)
      )`)
    for (const set of ['auth', 'runtime', 'project'] as const) await takeOver(client, set, files)
  }
  return (await client.query<Applied>('select set_name, name, checksum from stack.migrations')).rows
}

/** Earlier versions kept a table for each set, without checksums: the file as it is now counts as the one that ran. */
async function takeOver(client: pg.Client, set: MigrationSet['name'], files: readonly MigrationFile[]): Promise<void> {
  const table = `stack.${set}_migrations`
  const { rows } = await client.query<{ exists: boolean }>(`select to_regclass('${table}') is not null as exists`)
  if (!rows[0]!.exists) return
  const { rows: before } = await client.query<{ name: string }>(`select name from ${table} order by id`)
  for (const { name } of before) {
    const file = files.find((one) => one.set === set && one.name === `${name}.sql`)
    await client.query(
      `insert into stack.migrations (set_name, name, checksum, applied_at)
       select $1, $2, $3, run_on from ${table} where name = $4 order by id desc limit 1
       on conflict do nothing`,
      [set, `${name}.sql`, file?.checksum ?? '', name],
    )
  }
  await client.query(`drop table ${table}`)
}

/** @throws Error where what ran and the files do not tell the same story. */
function pendingOf(
  files: readonly MigrationFile[],
  sets: readonly MigrationSet[],
  history: readonly Applied[],
): MigrationFile[] {
  for (const { name: set, directory } of sets) {
    const applied = history.filter(({ set_name }) => set_name === set)
    for (const { name, checksum } of applied) {
      const file = files.find((one) => one.set === set && one.name === name)
      const shown = path.join(directory, name)
      if (!file)
        throw new Error(`${shown} was applied to this database and is gone. ${advice[set]('Restore the file')}`)
      if (file.checksum !== checksum) {
        throw new Error(`${shown} was changed after it was applied to this database. ${advice[set](restoring)}`)
      }
    }
    const last = applied
      .map(({ name }) => name)
      .sort(byNumber)
      .at(-1)
    const early = files.find((one) => {
      const isApplied = applied.some(({ name }) => name === one.name)
      return one.set === set && !isApplied && last !== undefined && byNumber(one.name, last) < 0
    })
    if (early) {
      throw new Error(
        `${early.shown} would run after ${last}, which was applied to this database already: give it a higher number`,
      )
    }
  }
  return files.filter(({ set, name }) => !history.some((one) => one.set_name === set && one.name === name))
}

const restoring = 'Undo the change and write a new migration'

/** What to do about a file of a set: those of the package belong to its version. */
const advice: Record<MigrationSet['name'], (first: string) => string> = {
  auth: () => 'Another version of @stack/backend has migrated this database: use that version or a newer one',
  runtime: () => 'Another version of @stack/backend has migrated this database: use that version or a newer one',
  project: (first) => `${first}; a local database can also be made anew with \`stack start --fresh\``,
}

/** @throws Error where a file would end the transaction that all pending files share, or would undo itself. */
function refuseTransactionControl({ sql, shown }: MigrationFile): void {
  const down = /^--[ \t]*(?:down migration|migrate:down|\+goose down)\b/im.exec(sql)
  if (down) {
    throw new Error(
      `${shown}:${lineAt(sql, down.index)} begins a part that undoes the migration: a file runs whole and in one direction, so remove that part`,
    )
  }
  for (const { tokens } of statementsOf(sql)) {
    const [first, second] = tokens
    const words = tokens.filter(({ kind }) => kind === 'word').map(({ text }) => text)
    const isPartial = words[0] === 'rollback' && words.includes('to') // a savepoint of the file's own
    if (first!.kind !== 'word' || !controlling.has(first!.text) || isPartial) continue
    if (first!.text === 'prepare' && second?.text !== 'transaction') continue
    throw new Error(
      `${shown}:${lineAt(sql, first!.start)} holds \`${first!.text}\`: all pending migrations run in one transaction, which no file begins or ends. Remove the statement`,
    )
  }
}

const controlling: ReadonlySet<string> = new Set(['begin', 'start', 'commit', 'end', 'rollback', 'abort', 'prepare'])

/** The connection's events, which the types of pg leave out. */
interface Wire {
  on(event: 'commandComplete', listener: () => void): void
  off(event: 'commandComplete', listener: () => void): void
}

async function apply(client: pg.Client, file: MigrationFile): Promise<void> {
  const { set, name, sql, checksum } = file
  const wire = (client as unknown as { connection: Wire }).connection
  let completed = 0
  const count = () => void completed++
  const before = await transactionOf(client)
  wire.on('commandComplete', count)
  try {
    await client.query(sql) // whole: where a statement ends is for Postgres to say
  } catch (error) {
    throw failureOf(error, file, completed)
  } finally {
    wire.off('commandComplete', count)
  }
  await client.query(freshSettings)
  if ((await transactionOf(client)) !== before) {
    throw new Error(`${file.shown} has ended the transaction of the migrations: what ran until there is applied`)
  }
  await client.query('insert into stack.migrations (set_name, name, checksum) values ($1, $2, $3)', [
    set,
    name,
    checksum,
  ])
}

async function transactionOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ id: string }>('select pg_current_xact_id()::text as id')
  return rows[0]!.id
}

/** @param completed statements that ran before the one that failed. */
function failureOf(error: unknown, { sql, shown }: MigrationFile, completed: number): Error {
  if (!(error instanceof pg.DatabaseError)) return new Error(`${shown} failed: ${(error as Error).message}`)
  const statements: SqlStatement[] = statementsOf(sql)
  const at =
    error.position === undefined
      ? (statements[completed]?.tokens[0]?.start ?? 0)
      : Array.from(sql)
          .slice(0, Number(error.position) - 1)
          .join('').length // Postgres counts code points
  const sentences = [
    `${shown}:${lineAt(sql, at)} failed: ${error.message}`,
    error.detail,
    error.hint,
    error.where,
    error.code === undefined ? undefined : remedies[error.code],
    'Nothing was migrated',
  ]
  return Object.assign(new Error(sentences.filter(Boolean).join('\n  ')), { cause: error })
}

/** What Postgres cannot know: that all pending migrations share one transaction. By SQLSTATE. */
const remedies: Record<string, string> = {
  '25001':
    'All pending migrations run in one transaction. Use the form that may: `create index` without `concurrently`, for example',
  '55P04': 'All pending migrations run in one transaction. Add the value in a migration that is applied before',
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

/**
 * Everything that `backend_authenticated` reaches and that no policy guards: each user would see every row. What an
 * extension brings is its own business, unless the project grants it.
 *
 * @throws Error naming all of them.
 */
async function refuseOpenRelations(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string; kind: string; is_view: boolean }>(openRelations)
  if (rows.length === 0) return
  const lines = rows.map(({ name, kind, is_view }) => {
    const lack = is_view
      ? `is granted to users and reads its tables as its owner${kind === 'view' ? `: \`alter view ${name} set (security_invoker = true)\`` : ''}`
      : `is granted to users and has no row-level security: \`alter table ${name} enable row level security\``
    return `the ${kind} ${name} ${lack}`
  })
  throw new Error(
    [
      'every user would see every row. Nothing was migrated',
      ...lines,
      "What is meant for everybody says so: `comment on … is '@stack public'`. Otherwise guard it, or revoke the grant",
    ].join('\n  '),
  )
}

const openRelations = `
  select format('%I.%I', nspname, relname) as name, relkind in ('v', 'm') as is_view,
    case relkind when 'v' then 'view' when 'm' then 'materialized view' when 'f' then 'foreign table' else 'table' end as kind
  from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  where relkind in ('r', 'p', 'f', 'v', 'm')
    and nspname not in ('pg_catalog', 'information_schema') and nspname !~ '^pg_(toast|temp)'
    and case relkind
      when 'm' then true
      when 'v' then not coalesce((
        select split_part(option, '=', 2)::boolean from unnest(reloptions) as option where option like 'security_invoker=%'
      ), false)
      else not relrowsecurity
    end
    and (
      has_any_column_privilege('backend_authenticated', pg_class.oid, 'SELECT, INSERT, UPDATE, REFERENCES')
      or has_table_privilege('backend_authenticated', pg_class.oid, 'DELETE, TRUNCATE, TRIGGER')
    )
    and coalesce(obj_description(pg_class.oid, 'pg_class'), '') !~ '@stack\\s+public\\M'
    and not (
      exists (
        select from pg_depend
        where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e'
      )
      and not exists (
        select from aclexplode(relacl) as held where held.grantee = 'backend_authenticated'::regrole
      )
    )
  order by 1`

/** A server that goes away while nothing is asked of it fails the next query; without a listener it would end the process. */
export async function connect(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client(databaseUrl)
  client.on('error', () => {})
  await client.connect()
  return client
}
