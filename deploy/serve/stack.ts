/** A stack that is served: workerd processes on one port, on an external Postgres, until it is stopped (contract 10.5). */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Crons } from '../../local/cron.ts'
import { acquireLock, releaseLock } from '../../local/lock.ts'
import { configOf } from '../database.ts'
import { type ObjectFolder, serveFolder } from '../storage/folder.ts'
import { startServedCrons } from './crons.ts'
import { createFleet, type Fleet } from './fleet.ts'
import type { WrittenGeneration } from './generations.ts'
import { createEntries } from './log-lines.ts'
import { type MetricsServer, type Snapshot, serveMetrics } from './metrics.ts'
import { databaseOptions, type ServeOptions } from './options.ts'
import { prepare, type ServeContext } from './preparation.ts'
import { type Listening, openSockets } from './sockets.ts'
import { workerSources } from './worker-sources.ts'

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
interface Parts extends ServeContext {
  listening: Listening
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
