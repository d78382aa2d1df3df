/**
 * The schemas of a stack: numbered SQL files, each applied once, all pending ones in one transaction (contract 5.5). This
 * package has a runner of its own because none on npm compares the text of an applied file and runs several folders in one
 * transaction.
 */
import path from 'node:path'
import type pg from 'pg'
import { projectPaths } from '../src/wire/project-paths.ts'
import { connect } from './database.ts'
import { applyFile, freshSettings, refuseTransactionControl } from './migrations/apply.ts'
import { type MigrationFile, type MigrationSet, readMigrationFiles } from './migrations/files.ts'
import { pendingFiles, readHistory } from './migrations/history.ts'
import { requireSoundHooks } from './migrations/hooks.ts'
import { refuseOpenRelations } from './migrations/open-relations.ts'

/** Migrations that ran in a transaction which is still open: no other session sees their changes. */
export interface OpenMigrations {
  /** Names of the files that ran now, in their order. */
  applied: string[]
  /** @throws Error when Postgres refuses the commit. Then nothing is applied. */
  commit(): Promise<void>
  /** Does nothing after a commit. */
  rollback(): Promise<void>
}

const packageRoot = path.resolve(import.meta.dirname, '..')

/**
 * The sets in the order in which they run: a project's tables refer to the schema `auth`.
 * @param root absolute path of the project.
 */
export function setsOf(root: string): MigrationSet[] {
  return [
    { name: 'auth', directory: path.join(packageRoot, 'src/auth/migrations') },
    { name: 'runtime', directory: path.join(packageRoot, 'runtime/migrations') },
    { name: 'project', directory: path.join(root, projectPaths.migrations) },
  ]
}

/** Steps of a database that is not the local one, beside its files. */
export interface MigrationSteps {
  /** @returns the text that runs in place of a file's. The history keeps the checksum of the file. */
  adapt?(file: MigrationFile): string
  /** Runs behind the last file, as the owner, before the catalog is checked. */
  finish?(client: pg.Client): Promise<void>
}

/** Runs the pending migrations and commits them. @returns and @throws as `openMigrations` does. */
export async function migrate(databaseUrl: string, sets: readonly MigrationSet[]): Promise<string[]> {
  const migrations = await openMigrations(databaseUrl, sets)
  await migrations.commit()
  return migrations.applied
}

/** Lists the pending migrations. It changes nothing. @throws as `openMigrations` does. */
export async function pendingMigrations(
  database: string | pg.ClientConfig,
  sets: readonly MigrationSet[],
): Promise<string[]> {
  const files = sets.flatMap(readMigrationFiles)
  const client = await connect(database)
  try {
    await beginMigrations(client)
    return pendingFiles(files, sets, await readHistory(client, files)).map(({ name }) => name)
  } finally {
    await client.end().catch(() => {}) // which rolls back
  }
}

/** Begins the transaction, and waits until no other run is under way. */
async function beginMigrations(client: pg.Client): Promise<void> {
  await client.query(`begin; set local lock_timeout = ${lockMs}`)
  // The lock comes before the table of the history: otherwise two first runs would both make that table.
  await client.query('select pg_advisory_xact_lock($1)', [lockKey]).catch((error: { code?: string }) => {
    if (error.code !== '55P03') throw error
    throw new Error(
      `another run has been migrating this database for ${lockMs / 1000} s: wait for its end. Nothing was migrated`,
    )
  })
  await client.query(freshSettings)
}

/**
 * Runs the pending migrations, in the order of the sets, in a transaction that stays open. A second run waits until the first
 * one has ended. A run that is killed leaves nothing behind.
 *
 * @param database the URL of the owner, or the driver's settings.
 * @throws Error with a sentence that names the file, and the line where one is known. Nothing is applied then.
 */
export async function openMigrations(
  database: string | pg.ClientConfig,
  sets: readonly MigrationSet[],
  { adapt = ({ sql }) => sql, finish }: MigrationSteps = {},
): Promise<OpenMigrations> {
  const files = sets.flatMap(readMigrationFiles)
  const client = await connect(database)
  const end = () => client.end().catch(() => {})
  try {
    await beginMigrations(client)
    const pending = pendingFiles(files, sets, await readHistory(client, files))
    for (const file of pending) refuseTransactionControl(file)
    for (const file of pending) await applyFile(client, { ...file, sql: adapt(file) })
    await finish?.(client)
    await client.query('set constraints all immediate').catch((error: Error) => {
      throw new Error(`the migrations leave a deferred constraint violated: ${error.message}. Nothing was migrated`)
    })
    await refuseOpenRelations(client)
    await requireSoundHooks(client)
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
      rollback: () => close('rollback').catch(() => {}), // a lost connection has ended the transaction
    }
  } catch (error) {
    await end() // which rolls back
    throw error
  }
}

/** Longest wait for another run, in milliseconds. A migration of a large table may take this long, and a run that hangs is reported. */
const lockMs = 60_000

/** Key of the advisory lock: "stackmig" as ASCII, which another program is unlikely to use. */
const lockKey = '8319395793567836519'
