/** Options of a stack that is served. */
import type { DeclaredRole, Project } from '../../src/wire/project.ts'
import type { DeclaredTemplate } from '../../src/wire/templates.ts'
import type { StorageTarget } from '../storage/target.ts'
import type { LogFields } from './log-lines.ts'
import { readVariable } from './secrets.ts'

interface Located {
  /** Absolute path. */
  root: string
  project: Project
  roles: DeclaredRole[]
  templates: DeclaredTemplate[]
}

export interface ServeOptions {
  /** Reads the project's declared files, also at each reload. */
  locate: () => Located
  /** A build to serve, as `stack build --out` leaves it. Default: the project is built. */
  built: string | undefined
  host: string
  port: number
  /** Number of workerd processes. */
  workers: number
  /** The public address. Default: that of the port, where the host is loopback. */
  stackUrl: string | undefined
  /** Folder of what is kept: secrets that were made, and the lock. */
  state: string
  storage: StorageTarget
  /** Longest time in milliseconds that requests in flight may take at the end. */
  graceMs: number
  metrics: { host: string; port: number } | undefined
  /** Proxies whose `x-forwarded-for` is believed. */
  trusted: string[]
  logsRequests: boolean
  /** Replaces the keys of a database that another machine serves. */
  takesOver: boolean
  /** Bindings of the backend worker, read again at each reload. */
  variables: () => Record<string, string>
  environment: NodeJS.ProcessEnv
  log: (fields: LogFields) => void
  /** Receives what a person must know. */
  say: (line: string) => void
}

export function databaseOptions({ environment, locate }: ServeOptions) {
  return {
    url: readVariable(environment, 'DATABASE_URL') ?? '',
    ca: readVariable(environment, 'DATABASE_CA'),
    root: locate().root,
  }
}
