/** A stack that is served: workerd processes on one port, on an external Postgres, until it is stopped (contract 10.5). */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type pg from 'pg'
import { hasDebugDevices, webhooksIn } from '../../local/bundle.ts'
import type { Crons } from '../../local/cron.ts'
import { acquireLock, releaseLock } from '../../local/lock.ts'
import { declareAll, whenAnswering } from '../../local/management.ts'
import { newestServiceRoleKey } from '../../local/rotated.ts'
import type { DeclaredRole, Project } from '../../src/wire/project.ts'
import type { DeclaredTemplate } from '../../src/wire/templates.ts'
import { configOf, loginPasswords, prepareDatabase, urlsOf, withOwner } from '../database.ts'
import { type ObjectFolder, serveFolder } from '../storage/folder.ts'
import type { StorageTarget } from '../storage/target.ts'
import { workerBindings } from './bindings.ts'
import { bundlesOf, requireBuild } from './builds.ts'
import { startServedCrons } from './crons.ts'
import { createFleet, type Fleet } from './fleet.ts'
import { type Bundles, type WrittenGeneration, writeGeneration } from './generations.ts'
import { createEntries, type LogFields } from './log-lines.ts'
import { type MetricsServer, type Snapshot, serveMetrics } from './metrics.ts'
import { keepDigests, requireSameSecrets } from './same-secrets.ts'
import { readVariable, type Secrets, secretsAt } from './secrets.ts'
import { type Listening, openSockets } from './sockets.ts'
import { type WorkerSources, workerSources } from './worker-sources.ts'
import { startWorkerd } from './workerd.ts'

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

export interface ServedStack {
  url: string
  port: number
  metricsPort: number | undefined
  applied: readonly string[]
  /** @throws Error when the new build does not serve. The old one serves on. */
  reload(): Promise<void>
  /** @returns whether every request in flight was finished. */
  stop(): Promise<boolean>
  /** Ends everything at once. */
  kill(): void
}

/** The parts that a stack has while it is served. */
interface Parts {
  options: ServeOptions
  directory: string
  listening: Listening
  sources: WorkerSources
  url: string
  storageSocket: string
  current?: WrittenGeneration
  fleet?: Fleet
  reloads: Snapshot['reloads']
  crons?: Crons
  metrics?: MetricsServer
  objects?: ObjectFolder
}

/** @throws PortTaken, LockHeld, BuildRefused, SecretFault, or as `prepareDatabase` does. Everything that was started is ended then. */
export async function serveStack(options: ServeOptions, signal: AbortSignal): Promise<ServedStack> {
  const lock = path.join(options.state, 'lock.json')
  fs.mkdirSync(options.state, { recursive: true, mode: 0o700 })
  await acquireLock(lock)
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-serve-')) // other users cannot enter it
  let parts: Parts | undefined
  const clear = () => {
    fs.rmSync(directory, { recursive: true, force: true })
    releaseLock(lock)
  }
  try {
    const listening = await openSockets(options.host, options.port, options.workers)
    const url =
      options.stackUrl ?? `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${listening.port}`
    const storageSocket = path.join(directory, 'storage.socket')
    parts = {
      options,
      directory,
      listening,
      sources: await workerSources(),
      url,
      storageSocket,
      reloads: { succeeded: 0, failed: 0 },
    }
    const { metrics } = options
    if (metrics) parts.metrics = await serveMetrics(metrics.host, metrics.port, snapshotOf(parts))
    signal.throwIfAborted()
    const { applied } = await start(parts, signal)
    signal.throwIfAborted()
    return served(parts, applied, clear)
  } catch (error) {
    await end(parts).catch(() => {})
    clear()
    throw error
  }
}

async function start(parts: Parts, signal: AbortSignal): Promise<{ applied: readonly string[] }> {
  const { options, listening } = parts
  if (options.storage.kind === 'folder') {
    parts.objects = await serveFolder(options.storage.directory, parts.storageSocket)
  }
  const { generation, applied } = await prepare(parts, 1, signal)
  parts.current = generation
  let entries = createEntries(generation.outs)
  let entriesOf: WrittenGeneration = generation
  parts.fleet = createFleet({
    ...{ host: options.host, port: listening.port, sockets: listening.sockets },
    ...{ count: options.workers, graceMs: options.graceMs },
    onLine(line, process) {
      if (entriesOf !== parts.current) {
        entriesOf = parts.current!
        entries = createEntries(entriesOf.outs)
      }
      options.log({ process, ...entries(line) })
    },
    onEvent: ({ level, message, ...fields }) => options.log({ level, worker: 'serve', message, ...fields }),
  })
  await parts.fleet.start(generation)
  signal.throwIfAborted()
  const config = configOf(databaseOptions(options))
  parts.crons = await startServedCrons({
    config,
    served: () => parts.current!.crons,
    fleet: parts.fleet,
    log: (fields) => options.log({ worker: 'serve', ...fields }),
  })
  return { applied }
}

function snapshotOf(parts: Parts): () => Promise<Snapshot> {
  return async () => {
    const { fleet, reloads } = parts
    return { states: fleet?.states() ?? [], metrics: (await fleet?.metrics()) ?? [], reloads }
  }
}

function served(parts: Parts, applied: readonly string[], clear: () => void): ServedStack {
  const { listening, url, metrics } = parts
  let reloading: Promise<void> = Promise.resolve()
  return {
    ...{ url, port: listening.port, metricsPort: metrics?.port, applied },
    reload() {
      const next = reloading.catch(() => {}).then(() => reload(parts))
      reloading = next
      return next
    },
    async stop() {
      await reloading.catch(() => {})
      const isWhole = await end(parts)
      clear()
      return isWhole
    },
    kill() {
      parts.fleet?.kill()
      clear()
    },
  }
}

async function reload(parts: Parts): Promise<void> {
  const before = parts.current!
  try {
    const { generation } = await prepare(parts, before.number + 1)
    parts.current = generation // the log needs its source maps
    await parts.fleet!.replace(generation).catch((error: unknown) => {
      parts.current = before
      throw error
    })
    before.remove()
    parts.crons?.update()
    parts.reloads.succeeded += 1
  } catch (error) {
    parts.reloads.failed += 1
    throw error
  }
}

/** Ends the parts in the reverse order of their start. @returns whether every request in flight was finished. */
async function end(parts: Parts | undefined): Promise<boolean> {
  if (!parts) return true
  await parts.crons?.stop()
  const isWhole = (await parts.fleet?.stop()) ?? true
  for (const socket of parts.listening.sockets) socket.close()
  await parts.metrics?.stop()
  await parts.objects?.stop()
  return isWhole
}

function databaseOptions({ environment, locate }: ServeOptions) {
  return {
    url: readVariable(environment, 'DATABASE_URL') ?? '',
    ca: readVariable(environment, 'DATABASE_CA'),
    root: locate().root,
  }
}

/**
 * Builds, migrates and tries what is to be served. The migrations are committed when both bundles have started. What the project
 * declares is given to the auth worker.
 *
 * @throws Error when it cannot be served. Nothing is migrated then, unless the message says so.
 */
async function prepare(
  parts: Parts,
  number: number,
  signal?: AbortSignal,
): Promise<{ generation: WrittenGeneration; applied: readonly string[] }> {
  const { options } = parts
  const located = options.locate()
  if (options.built !== undefined) requireBuild(options.built)
  const secrets = secretsAt(path.join(options.state, 'secrets.json'), options.environment)
  const config = configOf(databaseOptions(options))
  const replace = options.takesOver && number === 1
  // before the build, which takes longer: a database that cannot be reached, and secrets that are not those of the database
  const connections = await connectionsOf(options)
  await requireSameSecrets(config, { values: secrets.values, previous: secrets.previousSealingKey, replace })
  const bundles = await bundlesOf({ ...located, built: options.built })
  signal?.throwIfAborted()
  const { values } = secrets
  const passwords = loginPasswords(values.DATABASE_LOGIN_KEY)
  const keys = { passwords, claimsKey: values.CLAIMS_KEY, replace }
  const database = await prepareDatabase(databaseOptions(options), keys)
  const generation = await write(parts, number, { bundles, secrets, connections }).catch(async (error: unknown) => {
    await database.rollback()
    throw error
  })
  try {
    if (hasDebugDevices(generation.outs.auth)) admitDebugDevices(options)
    const probe = await startProbe(generation, options)
    try {
      signal?.throwIfAborted()
      secrets.save() // they must not be lost once the database depends on them
      sayFresh(options, secrets)
      const gaps = await database.commit()
      await keepDigests(config, secrets)
      if (number === 1) for (const gap of gaps) options.say(`not covered: ${gap}`)
      const baseUrl = `http://127.0.0.1:${probe.port}`
      await whenAnswering(baseUrl).catch((error: Error) => {
        const kept = database.applied.length > 0 ? `; the migrations ${database.applied.join(', ')} are applied` : ''
        throw new Error(`${error.message}${kept}`)
      })
      await declareAll(baseUrl, { apikey: await serviceRoleKey(config, secrets) }, located)
    } finally {
      probe.kill()
      await probe.ended
    }
    return { generation, applied: database.applied }
  } catch (error) {
    await database.rollback()
    generation.remove()
    throw error
  }
}

/**
 * A build of `stack build --env <name> --out <folder>` may have debug devices, and the operator is told.
 * @throws Error where the bundle was built here: another command has put one with debug devices in its place.
 */
function admitDebugDevices({ built, say }: ServeOptions): void {
  if (built === undefined) {
    throw new Error('another command has built the auth worker with debug devices at the same time: start again')
  }
  say(`the build in ${built} takes debug devices: a key of theirs proves nothing about a device`)
}

/** The key that the auth worker accepts now: a rotation may have ended the one that is bound (contract 9.15). */
async function serviceRoleKey(config: pg.ClientConfig, secrets: Secrets): Promise<string> {
  const { values, previousSealingKey: previous } = secrets
  const sealingKeys = [values.SEALING_KEY, ...(previous === undefined ? [] : [previous])]
  const rotated = await newestServiceRoleKey(config, sealingKeys)
  if (rotated !== undefined) secrets.adoptServiceRoleKey(rotated)
  return rotated ?? values.SERVICE_ROLE_KEY
}

function sayFresh({ say, state }: ServeOptions, { fresh }: Secrets): void {
  if (fresh.length === 0) return
  say(`made ${fresh.join(', ')}, which are not set, and kept them in ${path.join(state, 'secrets.json')}`)
  say('keep a copy of that file: without it no password and no sealed value of this database can be used')
}

interface Prepared {
  bundles: Bundles
  secrets: Secrets
  /** Largest number of connections of one login and process. */
  connections: number
}

async function write(
  parts: Parts,
  number: number,
  { bundles, secrets, connections }: Prepared,
): Promise<WrittenGeneration> {
  const { options, directory, sources, url, storageSocket } = parts
  const { environment } = options
  const database = databaseOptions(options)
  const extra = environment['NODE_EXTRA_CA_CERTS']
  const certificates = [database.ca, extra ? fs.readFileSync(extra, 'utf8') : undefined]
  const declared = webhooksIn(bundles.backend).flatMap(({ secret }) => Object.values(secret))
  const given = declared.flatMap((name) => {
    const value = readVariable(environment, name)
    return value === undefined ? [] : [[name, value] as const]
  })
  const { previousSealingKey: previous } = secrets
  const bindings = workerBindings({
    stackUrl: url,
    secrets: secrets.values,
    urls: urlsOf(database.url, loginPasswords(secrets.values.DATABASE_LOGIN_KEY)),
    connections,
    project: { ...Object.fromEntries(given), ...options.variables() },
    environment: { ...environment, ...(previous === undefined ? {} : { SEALING_KEY_PREVIOUS: previous }) },
  })
  return writeGeneration({
    ...{ number, directory, bundles, bindings, sources, storageSocket },
    front: { trusted: options.trusted, logsRequests: options.logsRequests },
    storage: options.storage,
    certificates: certificates.flatMap((one) => one?.match(oneCertificate) ?? []),
  })
}

/** workerd reads ten certificates of one text at most, and a bundle has more. */
const oneCertificate = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/** Number of connections that stay free for the owner and for other programs. */
const spareConnections = 10
/** Largest number of connections of one login and process: the runtime's own default. */
const mostConnections = 20
/** Each worker has a login for requests and one for its service. */
const loginsOfProcess = 4

/** A share of what the server admits, so that all processes of this machine together cannot exhaust it. */
async function connectionsOf(options: ServeOptions): Promise<number> {
  const { rows } = await withOwner(configOf(databaseOptions(options)), (client) =>
    client.query<{ most: number }>(
      `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most`,
    ),
  )
  const share = Math.floor((rows[0]!.most - spareConnections) / (options.workers * loginsOfProcess))
  return Math.max(2, Math.min(share, mostConnections))
}

/** Starts both bundles on a port of loopback. @throws Error in workerd's words when one of them does not start. */
async function startProbe(generation: WrittenGeneration, { log }: ServeOptions) {
  const entries = createEntries(generation.outs)
  const onLine = (line: string) => {
    const entry = entries(line)
    if (entry['level'] === 'error' || entry['level'] === 'warn') log({ process: 'probe', ...entry })
  }
  const { environment } = generation
  return startWorkerd({ ...generation.probe(), environment, onLine }).catch((error: Error) => {
    throw new Error(`the bundles do not start: ${error.message}`)
  })
}
