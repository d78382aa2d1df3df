/**
 * The worker that listens on the stack's port: it passes each request to the auth worker or to the backend worker by its path
 * (contract 1.2), counts it, and names its client. Its entrypoint `Control` is reached by the parent process alone.
 */
import { WorkerEntrypoint } from 'cloudflare:workers'
import { type PoolCounts, poolName, poolObjects } from '../../src/wire/pool.ts'
import { authPaths } from '../../src/wire/reserved-paths.ts'
import { clientOf, createMatcher } from './addresses.ts'
import {
  durationBounds,
  type FrontSettings,
  type PoolSeries,
  type ProcessMetrics,
  type RequestSeries,
  type ScheduledCall,
} from './control-protocol.ts'
import { createRouteLabels } from './route-labels.ts'

interface Env {
  AUTH: Fetcher
  BACKEND: Fetcher
  SETTINGS: FrontSettings
  /** Absent where the worker has no database. */
  AUTH_POOL?: Pools
  BACKEND_POOL?: Pools
}

/** The pool objects of a worker. */
interface Pools {
  idFromName(name: string): unknown
  get(id: unknown): { counts(): Promise<Record<string, PoolCounts>> }
}

/** Methods that are counted under their own name. A client may invent others, and each name is a series of its own. */
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

const series = new Map<string, RequestSeries>()
let inFlight = 0
let held = 0
/** Until then, in milliseconds since the epoch, no answer leaves: the process is about to end (see `drain`). */
let heldUntil = 0
let tools: { labelOf: ReturnType<typeof createRouteLabels>; isTrusted: (address: string) => boolean } | undefined

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const began = Date.now()
    const { pathname } = URL.parse(request.url) ?? { pathname: '/' } // a request with an invalid Host still reaches the project
    const worker = authPaths.some((path) => pathname === path || pathname.startsWith(`${path}/`)) ? 'auth' : 'backend'
    inFlight += 1
    try {
      const response = await (worker === 'auth' ? env.AUTH : env.BACKEND).fetch(withClient(request, env))
      record(env.SETTINGS, request, { worker, pathname, status: response.status, began }, response)
      while (Date.now() < heldUntil) await hold()
      return response
    } catch (error) {
      record(env.SETTINGS, request, { worker, pathname, status: 500, began })
      throw error
    } finally {
      inFlight -= 1
    }
  },
}

/** @returns the request with the address of its client in `cf-connecting-ip`, which the workers believe. */
function withClient(request: Request, { SETTINGS }: Env): Request {
  tools ??= { labelOf: createRouteLabels(SETTINGS.routes), isTrusted: createMatcher(SETTINGS.trusted) }
  const { clientIp = '' } = (request.cf ?? {}) as { clientIp?: string }
  const peer = clientIp.replace(/^\[?(.*?)\]?:\d+$/, '$1')
  const copy = new Request(request)
  copy.headers.set('cf-connecting-ip', clientOf(peer, request.headers.get('x-forwarded-for'), tools.isTrusted))
  if (!tools.isTrusted(peer)) copy.headers.delete('cf-ipcountry') // otherwise any client could choose its country
  return copy
}

interface Outcome {
  worker: 'backend' | 'auth'
  pathname: string
  status: number
  began: number
}

function record(settings: FrontSettings, request: Request, outcome: Outcome, response?: Response): void {
  const { worker, pathname, status, began } = outcome
  const ms = Date.now() - began
  const method = methods.has(request.method) ? request.method : 'OTHER'
  const route = tools!.labelOf(worker, method, pathname)
  const key = `${worker} ${method} ${Math.floor(status / 100)} ${route}`
  let found = series.get(key)
  if (!found) {
    const buckets = durationBounds.map(() => 0)
    found = { worker, method, status: `${Math.floor(status / 100)}xx`, route, count: 0, seconds: 0, buckets }
    series.set(key, found)
  }
  found.count += 1
  found.seconds += ms / 1000
  const bucket = durationBounds.findIndex((bound) => ms / 1000 <= bound)
  if (bucket !== -1) found.buckets[bucket]! += 1
  if (!settings.logsRequests) return
  const fields = {
    method: request.method,
    path: pathname,
    status,
    ms,
    request_id: response?.headers.get('x-request-id'),
  }
  console.log(JSON.stringify({ level: 'info', worker: 'front', message: 'request', ...fields }))
}

/** Milliseconds between two looks at whether answers may leave. */
const lookMs = 5

async function hold(): Promise<void> {
  held += 1
  await scheduler.wait(lookMs)
  held -= 1
}

/** Longest time in milliseconds that answers are held. Only a parent process that was killed meanwhile reaches it. */
const longestHoldMs = 5_000

/** Milliseconds between two reports of how many answers are held. */
const reportMs = 20

/** Sums the counts of a worker's pool objects. A build of an older version has no counts, and then there are none. */
async function poolsOf(worker: PoolSeries['worker'], pools: Pools | undefined): Promise<PoolSeries[]> {
  if (!pools) return []
  const sums = new Map<string, PoolSeries>()
  try {
    const objects = Array.from({ length: poolObjects }, (_, index) => pools.get(pools.idFromName(poolName(index))))
    for (const counts of await Promise.all(objects.map((object) => object.counts()))) {
      for (const [binding, { size, open, unused, waiting }] of Object.entries(counts)) {
        const sum = sums.get(binding) ?? { worker, binding, size: 0, open: 0, unused: 0, waiting: 0 }
        sum.size += size
        sum.open += open
        sum.unused += unused
        sum.waiting += waiting
        sums.set(binding, sum)
      }
    }
  } catch {
    return [] // the metrics of requests are answered all the same
  }
  return [...sums.values()]
}

/** Requests of the parent process. */
export class Control extends WorkerEntrypoint<Env> {
  override async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === '/metrics') {
      const { AUTH_POOL, BACKEND_POOL } = this.env
      const pools = await Promise.all([poolsOf('auth', AUTH_POOL), poolsOf('backend', BACKEND_POOL)])
      return Response.json({ inFlight, series: [...series.values()], pools: pools.flat() } satisfies ProcessMetrics)
    }
    if (pathname === '/scheduled') return Response.json(await this.#run(await request.json()))
    if (pathname === '/drain') return this.#drain(request)
    return new Response('ok')
  }

  async #run({ worker, cron, time }: ScheduledCall): Promise<{ isFinished: boolean }> {
    const target = (worker === 'auth' ? this.env.AUTH : this.env.BACKEND) as Fetcher & {
      scheduled(event: { cron: string; scheduledTime: Date }): Promise<{ outcome: string }>
    }
    const { outcome } = await target.scheduled({ cron, scheduledTime: new Date(time) })
    return { isFinished: outcome === 'ok' }
  }

  /**
   * Holds every answer until the body of this request ends. A workerd that is asked to end closes each idle connection at once, and
   * a client that was about to use one would lose its request. While answers are held, the connections in use are not idle. The
   * parent asks workerd to end meanwhile, and each held answer then says `connection: close`.
   */
  #drain(request: Request): Response {
    heldUntil = Date.now() + longestHoldMs
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const encoder = new TextEncoder()
    let isOver = false
    const released = async () => {
      await request.body?.pipeTo(new WritableStream()).catch(() => {})
      heldUntil = 0
      isOver = true
    }
    const reports = async () => {
      while (!isOver) {
        await writer.write(encoder.encode(`${held}\n`))
        await scheduler.wait(reportMs)
      }
      await writer.close()
    }
    this.ctx.waitUntil(Promise.all([released(), reports().catch(() => {})]))
    return new Response(readable)
  }
}
