/** The local stack: Postgres, both schemas, both workers, on loopback. */
import * as fs from 'node:fs'
import { buildCached } from '../build/cached.ts'
import type { BuildResult } from '../build/options.ts'
import { authTarget, projectTarget } from '../build/targets.ts'
import type { DeclaredRole, Project } from '../src/wire/project.ts'
import type { DeclaredTemplate } from '../src/wire/templates.ts'
import { type DatabaseUrls, databaseUrls } from './database.ts'
import { type StackFiles, stackFiles } from './files.ts'
import { type Keys, keysAt } from './keys.ts'
import { acquireLock, releaseLock } from './lock.ts'
import { startMailbox } from './mailbox.ts'
import { type Declarations, declareAll } from './management.ts'
import { type OpenMigrations, openMigrations, setsOf } from './migrate.ts'
import { choosePort } from './ports.ts'
import { forgetPostgres, type Postgres, startPostgres } from './postgres.ts'
import { type LocalRecord, readRecord, writeRecord } from './record.ts'
import { type Serving, serve } from './serve.ts'
import { supervise } from './supervise.ts'
import { type WatchOptions, watchSource } from './watch.ts'

export interface StartOptions {
  /** Absolute path of the project. */
  root: string
  project: Project
  roles: DeclaredRole[]
  templates: DeclaredTemplate[]
  /** Bindings of the backend worker beside the stack's own (`.dev.vars`, contract 1.6). */
  variables: Record<string, string>
  /** Bindings of the auth worker beside the stack's own, which win: where the providers of a sign-in are. */
  authVariables?: Record<string, string>
  /** Must be free. The default is 8787, or the next free one. */
  port?: number | undefined
  /** The address that clients reach through a proxy, which strips its path (contract 9.14). Default: the address of the port. */
  publicUrl?: string | undefined
  /** Deletes the local database and its keys first. */
  fresh: boolean
  /** Builds and serves each change of the source. Without it the source is built once. */
  watch?: WatchOptions
  /** Receives a step that is done, and what the person must know. */
  say: (line: string) => void
  onLog: (line: string) => void
}

/** The durations of a start, in milliseconds. */
interface Times {
  build: number
  postgres: number
  workers: number
  all: number
}

export interface LocalStack {
  record: LocalRecord
  built: NonNullable<BuildResult['built']>
  postgres: { version: string; fresh: boolean; applied: string[] }
  /** Names in its vault. */
  secrets: string[]
  times: Times
  stop(): Promise<void>
}

/** The project does not build. */
export class Refused extends Error {
  override name = 'Refused'
  readonly result: BuildResult

  constructor(result: BuildResult) {
    super('the project was refused')
    this.result = result
  }
}

/** A stack of this project runs already. */
export class RunsAlready extends Error {
  override name = 'RunsAlready'
  readonly record: LocalRecord

  constructor(record: LocalRecord) {
    super(`the stack of ${record.project} runs already, as process ${record.pid}`)
    this.record = record
  }
}

/** Ends one part of the stack. */
type End = () => Promise<void>

/** @throws PortTaken, Refused, RunsAlready, LockHeld, or an Error with a sentence. All parts that were started are ended then. */
export async function startStack(options: StartOptions, signal: AbortSignal): Promise<LocalStack> {
  const { root, say } = options
  const began = performance.now()
  const files = stackFiles(root)
  const endedWorkerd = await acquireFolder(files, say)
  const ends: End[] = []
  const stop = () => stopAll(files, ends, say)
  try {
    const port = await choosePort(options.port, endedWorkerd, say)
    if (options.fresh) await forget(files)
    const keys = keysAt(files.keys)
    const { project, database } = await prepare(options, files, keys, ends)
    signal.throwIfAborted()
    const { postgres, urls, migrations } = database.value
    const mailbox = await startMailbox()
    ends.push(mailbox.stop)
    let record: LocalRecord | undefined
    const workers = await timed(() =>
      serve({
        ...options,
        files,
        keys,
        urls,
        migrations,
        mailbox: mailbox.inbox,
        port,
        isPortFixed: options.port !== undefined,
        signal,
        onRotated: () => record && refreshRecord(files, record, keys),
        onStarted: (end) => ends.push(end),
      }),
    )
    signal.throwIfAborted()
    const { baseUrl, secrets } = workers.value
    record = recordOf(options.project, keys, urls, { baseUrl, mailbox: mailbox.url })
    writeRecord(files.record, record)
    if (options.watch) ends.push(startWatching(root, options.watch, workers.value, keys, say))
    ends.push(workers.value.stopCrons) // first of all: no work is started on a stack that is ending
    return {
      record,
      built: project.value,
      postgres: { version: postgres.version, fresh: postgres.fresh, applied: migrations.applied },
      secrets,
      times: { build: project.ms, postgres: database.ms, workers: workers.ms, all: performance.now() - began },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Takes the folder for this process. @returns whether a left-over workerd was ended. @throws RunsAlready or LockHeld */
async function acquireFolder(files: StackFiles, say: (line: string) => void): Promise<boolean> {
  const earlier = await readRecord(files.record)
  if (earlier?.isLive) throw new RunsAlready(earlier.record)
  if (earlier)
    say(`the record of process ${earlier.record.pid} is left over: that stack is gone, and the record is ignored`)
  const endedWorkerd = await acquireLock(files.lock)
  if (endedWorkerd) say('a workerd of this project was still running without its stack, and was ended first')
  return endedWorkerd
}

/** Ends the parts in the reverse order of their start. The record goes first, so that no command uses an ending stack. */
async function stopAll(files: StackFiles, ends: End[], say: (line: string) => void): Promise<void> {
  fs.rmSync(files.record, { force: true })
  for (const end of ends.splice(0).reverse()) {
    // A part that fails to end must not keep the others from ending.
    await end().catch((error: Error) => say(`not everything ended in order: ${error.message}`))
  }
  releaseLock(files.lock)
}

async function forget(files: StackFiles): Promise<void> {
  await forgetPostgres(files.database)
  fs.rmSync(files.storage, { recursive: true, force: true })
  fs.rmSync(files.keys, { force: true })
}

interface Database {
  postgres: Postgres
  urls: DatabaseUrls
  migrations: OpenMigrations
}

/** Builds both workers and migrates the database, at the same time. The migrations stay uncommitted. @throws Refused */
async function prepare({ root, project, roles, say }: StartOptions, files: StackFiles, keys: Keys, ends: End[]) {
  const building = timed(() => buildCached(projectTarget(root, project, roles)))
  const [backend, auth, database] = await settle([
    building,
    timed(() => buildCached(authTarget(files.auth, true))),
    timed(async (): Promise<Database> => {
      const { postgres, urls } = await openPostgres(files, keys, ends, say)
      try {
        const migrations = await openMigrations(urls.owner, setsOf(root))
        ends.push(migrations.rollback)
        return { postgres, urls, migrations }
      } catch (error) {
        const { value } = await building
        // A refusal of the build may say the same, with the place in the file.
        throw value.built ? error : new Refused(value)
      }
    }),
  ])
  if (!auth.value.built) throw new Refused(auth.value)
  const { built } = backend.value
  if (!built) throw new Refused(backend.value)
  return { project: { value: built, ms: backend.ms }, database }
}

async function openPostgres(
  files: StackFiles,
  keys: Keys,
  ends: End[],
  say: (line: string) => void,
): Promise<Omit<Database, 'migrations'>> {
  const options = { directory: files.database, password: keys.passwords.postgres }
  const postgres = await startPostgres(options)
  ends.push(supervise(postgres, options, say))
  if (postgres.replaced) say('a Postgres of this project was still running without its stack, and was ended first')
  return { postgres, urls: databaseUrls(postgres.port, keys) }
}

function recordOf(
  { project }: Project,
  keys: Keys,
  urls: DatabaseUrls,
  { baseUrl, mailbox }: { baseUrl: string; mailbox: string },
): LocalRecord {
  return {
    pid: process.pid,
    started_at: new Date().toISOString(),
    project,
    ref: keys.ref,
    base_url: baseUrl,
    dashboard_url: mailbox,
    publishable_key: keys.publishable_key,
    service_role_key: keys.service_role_key,
    database_url: urls.owner,
    backend_database_url: urls.backend,
    backend_service_database_url: urls.backendService,
  }
}

/** The record goes on with the rotated key, unless the stack is ending: its record is removed first. */
function refreshRecord(files: StackFiles, record: LocalRecord, { service_role_key }: Keys): void {
  record.service_role_key = service_role_key
  if (fs.existsSync(files.record)) writeRecord(files.record, record)
}

/** Begins to watch in the background: the stack is ready when it serves the first build. @returns a function that ends it. */
function startWatching(
  root: string,
  options: WatchOptions,
  { baseUrl, update }: Serving,
  keys: Keys,
  say: (line: string) => void,
): End {
  const declare = (declared: Declarations) => declareAll(baseUrl, { apikey: keys.service_role_key }, declared)
  const watching = watchSource({ root, serve: update, declare }, options)
  watching.catch((error: Error) => say(`changes are not watched: ${error.message}`))
  return async () => (await watching).close()
}

async function timed<T>(work: () => Promise<T>): Promise<{ value: T; ms: number }> {
  const began = performance.now()
  return { value: await work(), ms: performance.now() - began }
}

/** Like `Promise.all`, but fails only when all have ended: a part that is still starting could not be ended. */
async function settle<T extends readonly unknown[]>(work: readonly [...{ [K in keyof T]: Promise<T[K]> }]): Promise<T> {
  const results = await Promise.allSettled(work)
  const failed = results.find((result): result is PromiseRejectedResult => result.status === 'rejected')
  if (failed) throw failed.reason
  return results.map((result) => (result as PromiseFulfilledResult<unknown>).value) as unknown as T
}
