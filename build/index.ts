/** The compiler: source in, refusals or a bundle out. read → refuse → link → emit. */
import path from 'node:path'
import type { RouteTable } from '../runtime/table.ts'
import { applicationOf } from './application.ts'
import { bundle, isBundled, type OutputFile } from './emit/bundle.ts'
import { entrySource } from './emit/entry.ts'
import { roleNames } from './emit/role-names.ts'
import { keepOnly, writeTogether } from './emit/write.ts'
import { link } from './link/index.ts'
import { openProgram } from './program.ts'
import { read } from './read/index.ts'
import type { Refusal } from './refusals.ts'
import { type Reserved, refuse } from './refuse/index.ts'

export interface BuildOptions {
  /** Absolute. */
  root: string
  /** Exports the root module; relative to the root. */
  entry: string
  /** Absolute; gets `out/`, `table.json` and `roles.d.ts`. */
  out: string
  reserved: readonly Reserved[]
  databaseRoles: RouteTable['databaseRoles']
  /** Declared role names; `undefined` leaves `roles.d.ts` alone. */
  roles?: readonly string[] | undefined
}

export interface BuildResult {
  /** Sorted by place; with an error among them, nothing was written. */
  refusals: Refusal[]
  /** `undefined` when refused. */
  built: { table: RouteTable; files: OutputFile[] } | undefined
}

const packageRoot = path.resolve(import.meta.dirname, '..')
const part = (file: string) => path.join(packageRoot, file)

export async function build({ root, entry, out, reserved, databaseRoles, roles }: BuildOptions): Promise<BuildResult> {
  const program = openProgram(root, entry)
  const application = applicationOf(read(program, entry))
  const refusals = refuse(application, { reserved, roles: roles ?? [] })
  if (refusals.some(({ severity }) => severity === 'error')) return { refusals, built: undefined }
  const { table, classes } = link(application, databaseRoles)
  const folder = path.join(out, 'out')
  const source = entrySource({ table, classes }, part('runtime/worker.ts'), root)
  const locations = { sdk: part('src/sdk/index.ts'), driver: part('runtime/database/driver.ts'), folder }
  const bundled = await bundle({ program, entry: source, ...locations })
  if (!isBundled(bundled)) return { refusals: [...refusals, ...bundled], built: undefined }
  writeTogether([
    { file: path.join(out, 'table.json'), contents: `${JSON.stringify(table, undefined, 2)}\n` },
    ...(roles ? [{ file: path.join(out, 'roles.d.ts'), contents: roleNames(roles) }] : []),
    // the worker comes last: it refers to the others
    ...bundled
      .sort((a, b) => Number(a.name === 'worker.js') - Number(b.name === 'worker.js'))
      .map(({ name, contents }) => ({ file: path.join(folder, name), contents })),
  ])
  keepOnly(folder, new Set(bundled.map(({ name }) => name)))
  return { refusals, built: { table, files: bundled } }
}
