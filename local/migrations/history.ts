/** `stack.migrations`, the history of a database, and how the files on the disk compare with it. */
import path from 'node:path'
import type pg from 'pg'
import { byNumber } from '../../build/read/migrations.ts'
import type { MigrationFile, MigrationSet } from './files.ts'

export interface AppliedMigration {
  set_name: MigrationSet['name']
  name: string
  checksum: string
}

/** Makes the table of the history where it is missing. @returns every migration that was applied to this database. */
export async function readHistory(client: pg.Client, files: readonly MigrationFile[]): Promise<AppliedMigration[]> {
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
  return (await client.query<AppliedMigration>('select set_name, name, checksum from stack.migrations')).rows
}

/** Takes over the tables of earlier versions, one a set and without checksums: the file as it is now counts as the applied one. */
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

/** @returns the files that were not applied. @throws Error where the history and the files contradict each other. */
export function pendingFiles(
  files: readonly MigrationFile[],
  sets: readonly MigrationSet[],
  history: readonly AppliedMigration[],
): MigrationFile[] {
  for (const set of sets) checkSet(set, files, history)
  return files.filter(({ set, name }) => !history.some((one) => one.set_name === set && one.name === name))
}

/** @throws Error for an applied file that is gone or changed, and for a new file that is numbered before an applied one. */
function checkSet(
  { name: set, directory }: MigrationSet,
  files: readonly MigrationFile[],
  history: readonly AppliedMigration[],
): void {
  const applied = history.filter(({ set_name }) => set_name === set)
  for (const { name, checksum } of applied) {
    const file = files.find((one) => one.set === set && one.name === name)
    const shown = path.join(directory, name)
    if (!file) throw new Error(`${shown} was applied to this database and is gone. ${advice[set]('Restore the file')}`)
    if (file.checksum !== checksum) {
      throw new Error(`${shown} was changed after it was applied to this database. ${advice[set](restoring)}`)
    }
  }
  const names = applied.map(({ name }) => name).sort(byNumber)
  const last = names.at(-1)
  const early = files.find(
    (one) => one.set === set && !names.includes(one.name) && last !== undefined && byNumber(one.name, last) < 0,
  )
  if (early) {
    throw new Error(
      `${early.shown} would run after ${last}, which was applied to this database already: give it a higher number`,
    )
  }
}

const restoring = 'Undo the change and write a new migration'

/** Advice about a changed file, by its set. The files of `auth` and `runtime` belong to a version of the package. */
const advice: Record<MigrationSet['name'], (first: string) => string> = {
  auth: () => 'Another version of @stack/backend has migrated this database: use that version or a newer one',
  runtime: () => 'Another version of @stack/backend has migrated this database: use that version or a newer one',
  project: (first) => `${first}; a local database can also be made anew with \`stack start --fresh\``,
}
