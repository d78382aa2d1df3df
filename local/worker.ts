/** The two built workers, the front and the clock, as one miniflare. */
import * as fs from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { Log, LogLevel, Miniflare, type MiniflareOptions, type Request, Response, type WorkerOptions } from 'miniflare'
import { compatibilityDate, compatibilityFlags } from '../src/wire/compatibility.ts'
import { cronsIn, limitsIn, moduleNames, needsPool } from './bundle.ts'
import { createClock } from './clock.ts'
import type { Crons, ServedCron } from './cron.ts'
import { frontSource } from './front.ts'
import { createStackMapper } from './log.ts'
import { PortTaken } from './ports.ts'

export interface WorkersOptions {
  /** Free, on loopback. */
  port: number
  /** The folder of the objects that the backend stores. */
  storage: string
  backend: { out: string; bindings: Record<string, string> }
  auth: { out: string; bindings: Record<string, string> }
  /** Called when workerd has ended by itself and was started again. */
  onRestart: () => void
  /** Called with each line that a worker logs, unchanged. */
  onLog: (line: string) => void
  /** Answers a request of `stack cron run`. */
  onCron: Crons['answer']
}

/** Longest wait for the end of miniflare, in milliseconds. It kills workerd, so only a miniflare that hangs reaches it. */
const stopMs = 5_000

export interface Workers {
  /**
   * Serves the bundle that the backend's folder holds now, with these bindings.
   * @returns whether anything was new. @throws Error when the new bundle does not start. The last one serves on then.
   */
  update(bindings: Record<string, string>): Promise<boolean>
  /** The schedules of the bundles that are served now. */
  crons(): readonly ServedCron[]
  /** Calls a worker's `scheduled` handler. @returns whether it ended without throwing. */
  runScheduled(worker: ServedCron['worker'], cron: string, time: Date): Promise<boolean>
  stop(): Promise<void>
}

/** @throws PortTaken when the port is no longer free, Error when a bundle does not start. */
export async function startWorkers({
  port,
  storage,
  backend,
  auth,
  onRestart,
  onLog,
  onCron,
}: WorkersOptions): Promise<Workers> {
  const handlers = signalHandlers()
  const clock = createClock()
  const authWorker = worker('auth', auth.out, auth.bindings)
  const optionsWith = (backendWorker: WorkerOptions): MiniflareOptions => ({
    host: '127.0.0.1',
    port: 0,
    unsafeHandleRuntimeRestart: onRestart,
    r2Persist: storage,
    cf: false, // otherwise miniflare asks the network for sample metadata of a request
    log: new Log(LogLevel.NONE),
    structuredWorkerdLogs: true,
    handleStructuredLogs({ message }: { message: string }) {
      // This line about a bundle that does not start is in the thrown error too. Miniflare refuses a handler that returns a value.
      if (!message.startsWith('service core:user:')) onLog(message)
    },
    workers: [frontWorker(port, onCron), backendWorker, authWorker, clock.worker],
  })
  let serving = worker('backend', backend.out, backend.bindings)
  const authCrons = cronsIn('auth', auth.out)
  let backendCrons = cronsIn('backend', backend.out)
  const runtime = new Miniflare(optionsWith(serving))
  // Miniflare's handlers end this process at a signal, before Postgres is stopped in order. `stack start` handles signals itself.
  for (const [signal, listener] of signalHandlers()) {
    if (!handlers.some(([, known]) => known === listener)) process.removeListener(signal, listener)
  }
  try {
    await runtime.ready
  } catch (error) {
    await runtime.dispose().catch(() => {})
    if ((error as { code?: string }).code === 'ERR_ADDRESS_IN_USE') throw new PortTaken(port)
    throw startFailure(error as Error, { backend: backend.out, auth: auth.out })
  }
  return {
    async update(bindings) {
      const [next, nextCrons] = [worker('backend', backend.out, bindings), cronsIn('backend', backend.out)]
      if (isDeepStrictEqual(next, serving)) return false
      try {
        await runtime.setOptions(optionsWith(next))
      } catch (error) {
        await runtime.setOptions(optionsWith(serving)) // until a bundle that starts is set again, miniflare's port is dead
        throw startFailure(error as Error, { backend: backend.out, auth: auth.out })
      }
      serving = next
      backendCrons = nextCrons
      return true
    },
    crons: () => [...backendCrons, ...authCrons],
    runScheduled: (name, cron, time) => clock.run(runtime, name, cron, time),
    async stop() {
      // Miniflare kills workerd, which no hanging request can delay. The limit is for miniflare itself.
      await Promise.race([runtime.dispose(), new Promise((resolve) => setTimeout(resolve, stopMs).unref())])
    },
  }
}

/** The worker that listens on the stack's port. */
function frontWorker(port: number, onCron: WorkersOptions['onCron']): WorkerOptions {
  return {
    name: 'front',
    modules: [{ type: 'ESModule', path: 'front.js', contents: frontSource }],
    compatibilityDate,
    serviceBindings: {
      AUTH: 'auth',
      BACKEND: 'backend',
      async CRON(request: Request) {
        const { status, body } = await onCron(request)
        return Response.json(body, { status })
      },
    },
    unsafeDirectSockets: [{ host: '127.0.0.1', port }],
  }
}

/** @returns the bindings of the limits that the routes of a built project declare. */
function rateLimitsIn(out: string): NonNullable<WorkerOptions['ratelimits']> {
  return Object.fromEntries(
    limitsIn(out).map(({ binding, requests, seconds }) => [
      binding,
      { namespace_id: binding, simple: { limit: requests, period: seconds } },
    ]),
  )
}

function signalHandlers(): [NodeJS.Signals, NodeJS.SignalsListener][] {
  return (['SIGINT', 'SIGTERM'] as const).flatMap((signal) =>
    process
      .listeners(signal)
      .map((listener): [NodeJS.Signals, NodeJS.SignalsListener] => [signal, listener as NodeJS.SignalsListener]),
  )
}

function worker(name: 'backend' | 'auth', out: string, bindings: Record<string, string>): WorkerOptions {
  return {
    name,
    rootPath: out,
    modulesRoot: out,
    modules: modulesIn(out),
    compatibilityDate,
    compatibilityFlags: [...compatibilityFlags],
    bindings: { ...bindings, STACK_WORKER: name },
    serviceBindings: { AUTH: 'auth' },
    // A bundle with the database driver exports this class. A variable of that name replaces the binding.
    ...(needsPool(out) && bindings['STACK_POOL'] === undefined ? { durableObjects: { STACK_POOL: 'StackPool' } } : {}),
    ...(name === 'backend' ? { r2Buckets: { STORAGE: 'storage' }, ratelimits: rateLimitsIn(out) } : {}),
  }
}

/** The error that a bundle threw while it was loaded, at its place in the source. Other errors stay as workerd words them. */
function startFailure(error: Error, outs: Record<string, string>): Error {
  const thrown = /service core:user:(\w+): Uncaught (.*?)","context_depth"/.exec(error.message)
  if (!thrown) return error
  const [, worker, words] = thrown as unknown as [string, string, string]
  const text = JSON.parse(`"${words}"`) as string
  return new Error(`the ${worker} worker does not start: ${createStackMapper(outs)(worker, text)}`)
}

/** Reads the modules, `worker.js` first, because the first one is the entry. A later build is served by `update` alone. */
function modulesIn(out: string) {
  return moduleNames(out).map((name) => ({
    type: name.endsWith('.wasm') ? ('CompiledWasm' as const) : ('ESModule' as const),
    path: path.join(out, name),
    contents: fs.readFileSync(path.join(out, name)),
  }))
}
