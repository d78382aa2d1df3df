/** The local stack: Postgres, both schemas, both workers, on loopback. */
import * as fs from 'node:fs'
import path from 'node:path'
import { buildCached } from '../build/cached.ts'
import type { BuildResult } from '../build/options.ts'
import { authTarget, projectTarget } from '../build/targets.ts'
import type { DeclaredRole, Project } from '../src/wire/project.ts'
import { projectPaths } from '../src/wire/project-paths.ts'
import { type Following, followChanges } from './follow.ts'
import { type Keys, keysAt } from './keys.ts'
import { installKeys } from './logins.ts'
import { openMigrations, setsOf } from './migrate.ts'
import { claim, noteWorkerd, release } from './owner.ts'
import { choosePort, PortTaken } from './ports.ts'
import { forgetPostgres, type Postgres, startPostgres } from './postgres.ts'
import { type LocalRecord, readRecord, writeRecord } from './record.ts'
import { namesInVault } from './vault.ts'
import { startWorkers } from './worker.ts'

export interface StartOptions {
  /** Absolute. */
  root: string
  project: Project
  roles: DeclaredRole[]
  /** Bindings of the backend worker beside the stack's own (`.dev.vars`, contract 1.6). */
  variables: Record<string, string>
  /** Must be free; absent: the default one, or the next that is free. */
  port?: number | undefined
  /** Forgets the local database and its keys first. */
  fresh: boolean
  /** Where the project is to be followed: what is declared now, and who is told of changes. */
  follow?: Following
  /** A step that is done, or something the person must know. */
  say: (line: string) => void
  onLog: (line: string) => void
}

/** What a start took, in milliseconds. */
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

/** @throws PortTaken, Refused, RunsAlready, or an Error with a sentence. Whatever was started by then is ended. */
export async function startStack(options: StartOptions, signal: AbortSignal): Promise<LocalStack> {
  const { root, say } = options
  const folder = path.join(root, projectPaths.generated)
  const recordFile = path.join(root, projectPaths.localRecord)
  const earlier = await readRecord(recordFile)
  if (earlier?.isLive) throw new RunsAlready(earlier.record)
  if (earlier)
    say(`the record of process ${earlier.record.pid} is left over: that stack is gone, and the record is ignored`)
  const began = performance.now()
  const processesFile = path.join(folder, 'processes.json')
  const endedWorkerd = await claim(processesFile)
  if (endedWorkerd) {
    say('a workerd of this project was still running without its stack, and was ended first')
  }
  const ending: (() => Promise<void>)[] = []
  const stop = async () => {
    fs.rmSync(recordFile, { force: true })
    for (const end of ending.splice(0).reverse()) {
      // one that fails stops no other
      await end().catch((error: Error) => say(`not everything ended in order: ${error.message}`))
    }
    release(processesFile)
  }
  try {
    let port = await choosePort(options.port, endedWorkerd, say)
    const directory = path.join(folder, 'db')
    const keysFile = path.join(folder, 'keys.json')
    if (options.fresh) {
      await forgetPostgres(directory)
      fs.rmSync(path.join(folder, 'storage'), { recursive: true, force: true })
      fs.rmSync(keysFile, { force: true })
    }
    const keys = keysAt(keysFile)
    const building = timed(() => buildCached(projectTarget(root, options.project, options.roles)))
    const [project, auth, database] = await settle([
      building,
      timed(() => buildCached(authTarget(path.join(folder, 'auth')))),
      timed(async () => {
        const postgres = await startPostgres({ directory, password: keys.passwords.postgres })
        ending.push(supervise(postgres, { directory, password: keys.passwords.postgres }, say))
        if (postgres.replaced)
          say('a Postgres of this project was still running without its stack, and was ended first')
        const urls = databaseUrls(postgres.port, keys)
        try {
          const migrations = await openMigrations(urls.owner, setsOf(root))
          ending.push(migrations.rollback)
          return { postgres, urls, migrations }
        } catch (error) {
          const { value } = await building
          throw value.built ? error : new Refused(value) // it may say the same, with the place in the file
        }
      }),
    ])
    if (!auth.value.built) throw new Refused(auth.value)
    const { built } = project.value
    if (!built) throw new Refused(project.value)
    signal.throwIfAborted()

    const { postgres, urls, migrations } = database.value
    const { applied } = migrations
    const serve = async () => {
      const baseUrl = `http://127.0.0.1:${port}`
      const common = {
        CLAIMS_KEY: keys.claims_key,
        DATABASE_URL: urls.backend,
        STACK_URL: baseUrl,
        AUTH_JWKS_URL: `${baseUrl}/auth/.well-known/jwks.json`,
        AUTH_ISSUER: `${baseUrl}/auth`,
        AUTH_AUDIENCE: keys.ref,
      }
      const bindings = {
        ...common,
        DATABASE_SERVICE_URL: urls.backendService,
        SERVICE_ROLE_KEY: keys.service_role_key,
      }
      const started = await startWorkers({
        port,
        storage: path.join(folder, 'storage'),
        backend: { out: path.join(folder, 'out'), bindings: { ...bindings, ...options.variables } },
        auth: {
          out: path.join(folder, 'auth/out'),
          bindings: {
            ...common,
            DATABASE_SERVICE_URL: urls.auth,
            SEALING_KEY: keys.sealing_key,
            SERVICE_ROLE_KEY: keys.service_role_key,
          },
        },
        onRestart() {
          noteWorkerd(processesFile)
          say('workerd ended by itself and was started again')
        },
        onLog: options.onLog,
      })
      return { baseUrl, bindings, started }
    }
    const workers = await timed(async () => {
      const served = await serve().catch(async (error: unknown) => {
        if (!(error instanceof PortTaken) || options.port !== undefined) throw error
        port = await choosePort(undefined, false, say) // taken since it was found free
        return serve()
      })
      ending.push(served.started.stop)
      noteWorkerd(processesFile)
      signal.throwIfAborted()
      // everything that can be refused was accepted: the source, the roles, every migration, and that both bundles start
      await migrations.commit()
      const { postgres: _owner, ...passwords } = keys.passwords
      await installKeys(urls.owner, { claimsKey: keys.claims_key, passwords })
      await whenAnswering(served.baseUrl).catch((error: Error) => {
        const kept = applied.length > 0 ? `; the migrations ${applied.join(', ')} are applied` : ''
        throw new Error(`${error.message}${kept}`)
      })
      await declareRoles(served.baseUrl, keys, options.roles)
      return { ...served, secrets: await namesInVault({ base_url: served.baseUrl, ...keys }) }
    })
    const { baseUrl, bindings, started, secrets } = workers.value
    signal.throwIfAborted()
    const record: LocalRecord = {
      pid: process.pid,
      started_at: new Date().toISOString(),
      project: options.project.project,
      ref: keys.ref,
      base_url: baseUrl,
      dashboard_url: null,
      publishable_key: keys.publishable_key,
      service_role_key: keys.service_role_key,
      database_url: urls.owner,
      backend_database_url: urls.backend,
      backend_service_database_url: urls.backendService,
    }
    writeRecord(recordFile, record)
    if (options.follow) {
      const { follow } = options
      // nobody waits for it: to be ready it is enough that what was built is served
      const watching = followChanges({
        root,
        follow,
        serve: async (variables) => {
          const isNew = await started.update({ ...bindings, ...variables })
          if (isNew) noteWorkerd(processesFile)
          return isNew
        },
        declareRoles: (roles) => declareRoles(baseUrl, keys, roles),
      })
      watching.catch((error: Error) => say(`changes are not followed: ${error.message}`))
      ending.push(async () => (await watching).close())
    }
    return {
      record,
      built,
      postgres: { version: postgres.version, fresh: postgres.fresh, applied },
      secrets,
      times: { build: project.ms, postgres: database.ms, workers: workers.ms, all: performance.now() - began },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

function databaseUrls(port: number, { passwords }: Keys) {
  const url = (login: keyof Keys['passwords']) =>
    `postgresql://${login}:${encodeURIComponent(passwords[login])}@127.0.0.1:${port}/postgres?sslmode=disable`
  return {
    owner: url('postgres'),
    backend: url('stack_backend'),
    backendService: url('stack_backend_service'),
    auth: url('stack_auth'),
  }
}

/** A Postgres that was killed is started again on its port: workers connect for each request, so the next one is served. */
function supervise(
  first: Postgres,
  options: { directory: string; password: string },
  say: (line: string) => void,
): () => Promise<void> {
  let current = first
  let isEnding = false
  let restarting = Promise.resolve()
  const watch = () => {
    current.died.then((sentence) => {
      if (isEnding) return
      say(`${sentence} Starting it again`)
      restarting = startPostgres({ ...options, port: first.port }).then(
        (next) => {
          current = next
          say('Postgres runs again')
          watch()
        },
        (error: unknown) => say(`Postgres could not be started again: ${(error as Error).message}`),
      )
    })
  }
  watch()
  return async () => {
    isEnding = true
    await restarting
    await current.stop()
  }
}

/** The first answer of the key set also mints the signing key. */
async function whenAnswering(baseUrl: string): Promise<void> {
  let last = ''
  for (let attempt = 0; attempt < 50; attempt++) {
    try {
      const response = await fetch(`${baseUrl}/auth/.well-known/jwks.json`, { signal: AbortSignal.timeout(5000) })
      const body = await response.text()
      if (response.ok) return
      last = body
    } catch (error) {
      last = String(error)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`the auth worker does not answer: ${last}`)
}

async function declareRoles(baseUrl: string, keys: Keys, roles: readonly DeclaredRole[]): Promise<void> {
  for (const role of roles) {
    const response = await fetch(`${baseUrl}/v1/management/auth/roles`, {
      method: 'POST',
      headers: { apikey: keys.service_role_key, 'content-type': 'application/json' },
      body: JSON.stringify(role),
    })
    if (!response.ok) throw new Error(`the role ${role.name} could not be declared: ${await response.text()}`)
    await response.arrayBuffer()
  }
}

async function timed<T>(work: () => Promise<T>): Promise<{ value: T; ms: number }> {
  const began = performance.now()
  return { value: await work(), ms: performance.now() - began }
}

/** Like `Promise.all`, but fails only when all have ended: what one of them started must be known before it is ended. */
async function settle<T extends readonly unknown[]>(work: readonly [...{ [K in keyof T]: Promise<T[K]> }]): Promise<T> {
  const results = await Promise.allSettled(work)
  const failed = results.find((result): result is PromiseRejectedResult => result.status === 'rejected')
  if (failed) throw failed.reason
  return results.map((result) => (result as PromiseFulfilledResult<unknown>).value) as unknown as T
}
