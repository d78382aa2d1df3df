/** The numbered SQL files of a stack, as they are on the disk. */
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { migrationName, migrationsIn } from '../../build/read/migrations.ts'

export interface MigrationSet {
  name: 'auth' | 'runtime' | 'project'
  /** Holds `0001_name.sql`, `0002_name.sql` …, and may be missing. */
  directory: string
}

export interface MigrationFile {
  set: MigrationSet['name']
  name: string
  /** The path for messages. */
  shown: string
  sql: string
  /** SHA-256 of the text with `\n` line ends: a checkout with other line ends is no edit. */
  checksum: string
}

/** Reads a set in the order in which its files run. @throws Error that names the file. */
export function readMigrationFiles({ name: set, directory }: MigrationSet): MigrationFile[] {
  return migrationsIn(directory).map((name) => {
    const shown = path.join(directory, name)
    if (!migrationName.test(name)) {
      throw new Error(
        `${shown}: a migration's name is its number and then letters, digits, _ . or -, like 0001_tables.sql`,
      )
    }
    const sql = readSql(shown)
    const checksum = createHash('sha256').update(sql.replaceAll('\r\n', '\n')).digest('hex')
    return { set, name, shown, sql, checksum }
  })
}

/** Reads the text without a byte order mark. @throws Error for text of which Postgres would read something else. */
function readSql(file: string): string {
  let sql: string
  try {
    sql = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(fs.readFileSync(file))
  } catch (error) {
    throw error instanceof TypeError ? new Error(`${file} is not UTF-8 text: save it as UTF-8`) : error
  }
  const zero = sql.indexOf('\0')
  if (zero !== -1)
    throw new Error(`${file}:${lineAt(sql, zero)} holds a NUL character, where Postgres would stop reading`)
  return sql
}

/** @returns the number of the line, from 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}
