/** The files of a project's `migrations/`, in the order in which they run (contract 5.5). */
import * as fs from 'node:fs'
import path from 'node:path'
import { projectPaths } from '../../src/wire/project-paths.ts'
import type { Declarations } from '../declaration.ts'
import { reasonOf } from '../sources.ts'
import { type MigrationText, readMigration } from './sql.ts'

/** The name of a migration: a number, which decides the order, then plain characters. */
export const migrationName = /^(\d+)[A-Za-z0-9_.-]*\.sql$/

/** @param folder an absolute path, which may lead nowhere. @returns names of all files that may be migrations, in order. */
export function migrationsIn(folder: string): string[] {
  if (!fs.existsSync(folder)) return []
  return fs
    .readdirSync(folder, { withFileTypes: true })
    .filter((entry) => /\.sql$/i.test(entry.name) && !entry.name.startsWith('.') && !entry.isDirectory())
    .map(({ name }) => name)
    .sort(byNumber)
}

/** Orders by number, ignoring leading zeros, then by name. */
export function byNumber(one: string, other: string): number {
  const [a, b] = [numberOf(one), numberOf(other)]
  if (a !== b) return a < b ? -1 : 1
  return one < other ? -1 : one > other ? 1 : 0
}

/** A name without a number counts as 0. The runner refuses such a file. */
function numberOf(name: string): bigint {
  return BigInt(/^\d+/.exec(name)?.[0] ?? 0)
}

/** @param root absolute path of the project. @returns absolute paths. */
export function migrationsOf(root: string): string[] {
  const folder = path.join(root, projectPaths.migrations)
  return migrationsIn(folder).map((name) => path.join(folder, name))
}

interface Migrations {
  texts: MigrationText[]
  unreadable: Declarations['unreadable']
}

/** @returns a function that reads all migrations. It parses a file again only when its text has changed. */
export function createMigrationReader(root: string): () => Migrations {
  let known = new Map<string, { sql: string; text: MigrationText }>()
  return () => {
    const unreadable: Declarations['unreadable'] = []
    const read = migrationsOf(root).flatMap((absolute) => {
      const file = `${projectPaths.migrations}/${path.basename(absolute)}`
      let sql: string | undefined
      try {
        sql = fs.readFileSync(absolute, 'utf8').replace(/^\ufeff/, '')
        const kept = known.get(file)
        return [kept?.sql === sql ? kept : { sql, text: readMigration(file, sql) }]
      } catch (error) {
        unreadable.push({ reason: reasonOf(error), isOfSystem: sql === undefined, place: { file, start: 0, end: 0 } })
        return []
      }
    })
    known = new Map(read.map((one) => [one.text.file, one]))
    return { texts: read.map(({ text }) => text), unreadable }
  }
}
