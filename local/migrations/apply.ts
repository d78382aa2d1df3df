/** Runs one migration file inside the transaction that all pending files share, and explains a failure. */
import pg from 'pg'
import { type SqlStatement, statementsOf } from '../../build/read/sql.ts'
import { lineAt, type MigrationFile } from './files.ts'

/**
 * Resets the session before each file: a setting of one file must not reach the next. The transaction may wait for a build,
 * so that Postgres must not cut it off for being idle.
 */
export const freshSettings = `set session authorization default; reset role; reset all;
  set local idle_in_transaction_session_timeout = 0`

/** @throws Error for a file that would end the shared transaction, or that holds a part to undo itself. */
export function refuseTransactionControl({ sql, shown }: MigrationFile): void {
  const down = /^--[ \t]*(?:down migration|migrate:down|\+goose down)\b/im.exec(sql)
  if (down) {
    throw new Error(
      `${shown}:${lineAt(sql, down.index)} begins a part that undoes the migration: a file runs whole and in one direction, so remove that part`,
    )
  }
  for (const { tokens } of statementsOf(sql)) {
    const [first, second] = tokens
    const words = tokens.filter(({ kind }) => kind === 'word').map(({ text }) => text)
    const isPartial = words[0] === 'rollback' && words.includes('to') // to a savepoint of the file itself
    if (first!.kind !== 'word' || !controlling.has(first!.text) || isPartial) continue
    if (first!.text === 'prepare' && second?.text !== 'transaction') continue
    throw new Error(
      `${shown}:${lineAt(sql, first!.start)} holds \`${first!.text}\`: all pending migrations run in one transaction, which no file begins or ends. Remove the statement`,
    )
  }
}

const controlling: ReadonlySet<string> = new Set(['begin', 'start', 'commit', 'end', 'rollback', 'abort', 'prepare'])

/** The events of a connection, which the types of pg leave out. */
interface Wire {
  on(event: 'commandComplete', listener: () => void): void
  off(event: 'commandComplete', listener: () => void): void
}

/** Runs a file and notes it in the history. @throws Error with the file and the line of the failure. */
export async function applyFile(client: pg.Client, file: MigrationFile): Promise<void> {
  const { set, name, sql, checksum } = file
  const wire = (client as unknown as { connection: Wire }).connection
  let completed = 0
  const count = () => void completed++
  const before = await transactionId(client)
  wire.on('commandComplete', count)
  try {
    await client.query(sql) // in one piece: only Postgres can tell where a statement ends
  } catch (error) {
    throw failureOf(error, file, completed)
  } finally {
    wire.off('commandComplete', count)
  }
  await client.query(freshSettings)
  if ((await transactionId(client)) !== before) {
    throw new Error(`${file.shown} has ended the transaction of the migrations: what ran until there is applied`)
  }
  await client.query('insert into stack.migrations (set_name, name, checksum) values ($1, $2, $3)', [
    set,
    name,
    checksum,
  ])
}

async function transactionId(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ id: string }>('select pg_current_xact_id()::text as id')
  return rows[0]!.id
}

/** @param completed the number of statements that ran before the one that failed. */
function failureOf(error: unknown, { sql, shown }: MigrationFile, completed: number): Error {
  if (!(error instanceof pg.DatabaseError)) return new Error(`${shown} failed: ${(error as Error).message}`)
  const statements: SqlStatement[] = statementsOf(sql)
  const at =
    error.position === undefined
      ? (statements[completed]?.tokens[0]?.start ?? 0)
      : offsetOf(sql, Number(error.position))
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

/** @param position counts code points from 1, as Postgres does. @returns the offset in UTF-16 units from 0. */
function offsetOf(sql: string, position: number): number {
  return Array.from(sql)
    .slice(0, position - 1)
    .join('').length
}

/** By SQLSTATE, the advice that Postgres cannot give: all pending migrations share one transaction. */
const remedies: Record<string, string> = {
  '25001':
    'All pending migrations run in one transaction. Use the form that may: `create index` without `concurrently`, for example',
  '55P04': 'All pending migrations run in one transaction. Add the value in a migration that is applied before',
}
