/** The compiler: source in, refusals or a bundle out. read → refuse → link → emit. */
import type { RouteTable } from '../runtime/table.ts'
import type { DeclaredRole } from '../src/wire/project.ts'
import { openCompiler } from './compiler.ts'
import type { FileSize } from './emit/report.ts'
import type { Refusal } from './refusals/index.ts'
import type { Reserved } from './refuse/context.ts'
import { byPlace } from './refuse/index.ts'

export interface BuildOptions {
  /** Absolute. */
  root: string
  /** Exports the root module; relative to the root. */
  entry: string
  /** Absolute; gets `out/`, `table.json`, and for a project what is made of the table. */
  out: string
  reserved: readonly Reserved[]
  databaseRoles: RouteTable['databaseRoles']
  /** Longest request body of a route that declares none, in bytes (contract 2.11). */
  maxBodyBytes: number
  /** Path prefixes below which every route declares `serviceRole`; the auth module alone has them (contract 4.6). */
  administered?: readonly string[]
  /** Methods that a service binding offers (contract 9.9). */
  rpc?: readonly { class: string; method: string }[]
  /** The project's name and declared roles. Absent for the auth module, which has no documents. */
  project?: { name: string; roles: readonly DeclaredRole[] } | undefined
  /** Compressed KiB that the worker may have; absent: no limit. */
  budgetKib?: number
}

export interface Built {
  table: RouteTable
  sizes: FileSize[]
  /** Absolute paths of everything that was read, and of what was written. */
  inputs: string[]
  outputs: string[]
  /** Whether these inputs are all that decided the result. */
  isSelfContained: boolean
}

export interface BuildResult {
  /** Sorted by place; with an error among them, nothing was written. */
  refusals: Refusal[]
  /** `undefined` when refused. */
  built: Built | undefined
}

export async function build(options: BuildOptions): Promise<BuildResult> {
  const compiler = openCompiler({ ...options, isLast: true })
  try {
    const { refusals, linked } = compiler.check()
    if (linked) return await compiler.emit({ refusals, linked })
    return { refusals: [...refusals, ...(await compiler.survey())].sort(byPlace), built: undefined }
  } finally {
    await compiler.close()
  }
}
