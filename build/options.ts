/** The options and the result of a build. */
import type { RouteTable } from '../runtime/table.ts'
import type { DeclaredRole } from '../src/wire/project.ts'
import type { RecordedAnswers } from './emit/openapi-answers.ts'
import type { FileSize } from './emit/report.ts'
import type { Refusal } from './refusals/index.ts'
import type { Reserved } from './refuse/context.ts'

export interface BuildOptions {
  /** Absolute path of the project's folder, without symbolic links: the bundler names files by their real paths. */
  root: string
  /** The file that exports the root module, relative to `root`. */
  entry: string
  /** Absolute path of the folder that receives `out/`, `table.json` and the documents of a project. */
  out: string
  /** Path prefixes that another worker or the runtime answers. */
  reserved: readonly Reserved[]
  databaseRoles: RouteTable['databaseRoles']
  /** Longest request body in bytes, for routes that declare no limit of their own (contract 2.11). */
  maxBodyBytes: number
  /** Path prefixes below which every route must declare `serviceRole`. Only the auth module has any (contract 4.6). */
  administered?: readonly string[]
  /** Methods that other workers may call through a service binding (contract 9.9). A worker that offers any has no mirror of the vault. */
  rpc?: readonly ProviderMethod[]
  /** Methods that the worker itself calls for its keys. Only the auth module has them (contract 9.15). */
  keys?: { accepts: ProviderMethod; current: ProviderMethod }
  /** Modules of Node that packages may import without the prefix `node:`. A project has none: its refusal names the import. */
  nodeModules?: readonly string[]
  /** The project's name and declared roles, and answers that its documents quote. Absent for the auth module, which gets no documents. */
  project?: { name: string; roles: readonly DeclaredRole[]; answers?: RecordedAnswers } | undefined
  /** Largest compressed size of the worker in KiB. No limit where it is absent. */
  budgetKib?: number
}

/** A method of a class that a module lists in `providers`. */
export interface ProviderMethod {
  class: string
  method: string
}

export interface Built {
  table: RouteTable
  sizes: FileSize[]
  /** Absolute paths of all files that were read. */
  inputs: string[]
  /** Absolute paths of all files that were written. */
  outputs: string[]
  /** The inputs are all that decided the result: the same inputs give the same outputs. */
  isSelfContained: boolean
}

export interface BuildResult {
  /** Sorted by place. If one of them is an error, nothing was written. */
  refusals: Refusal[]
  /** `undefined` when the project was refused. */
  built: Built | undefined
}
