/** The compiler: source in, refusals or a bundle out. read → refuse → link → emit. */
import path from 'node:path'
import type { RouteTable } from '../runtime/table.ts'
import { applicationOf } from './application.ts'
import { bundle, type OutputFile } from './emit/bundle.ts'
import { entrySource } from './emit/entry.ts'
import { roleNames } from './emit/role-names.ts'
import { writeFolder, writeWhole } from './emit/write.ts'
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

/** @throws BundleFailed when an import cannot be resolved; nothing was written then either. */
export async function build({ root, entry, out, reserved, databaseRoles, roles }: BuildOptions): Promise<BuildResult> {
  const program = openProgram(root, entry)
  const application = applicationOf(read(program, entry))
  const refusals = refuse(application, { reserved, roles })
  if (refusals.some(({ severity }) => severity === 'error')) return { refusals, built: undefined }
  const linked = link(application, databaseRoles)
  const source = entrySource(linked, path.join(packageRoot, 'runtime/worker.ts'), root)
  const files = await bundle(program, source, path.join(packageRoot, 'src/sdk/index.ts'))
  writeWhole(path.join(out, 'table.json'), `${JSON.stringify(linked.table, undefined, 2)}\n`)
  if (roles) writeWhole(path.join(out, 'roles.d.ts'), roleNames(roles))
  writeFolder(path.join(out, 'out'), files, 'worker.js')
  return { refusals, built: { table: linked.table, files } }
}
