/**
 * Stands in for Cloudflare on loopback: the part of its API that a push uses, and its edge. The edge starts what was uploaded
 * in workerd, from the very upload, and passes requests to the worker whose route matches.
 */
import { randomUUID } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { Log, LogLevel, Miniflare, type MiniflareOptions, type WorkerOptions } from 'miniflare'

interface ApiCall {
  method: string
  /** Without the account and the query. */
  path: string
}

/** What happens to a call: it is answered, fails before or after it took effect, or is never answered. */
type Interference = 'answer' | 'refuse' | 'cut' | 'cut after' | 'hang'

interface UploadBinding {
  type: string
  name: string
  text?: string
  service?: string
  class_name?: string
  namespace_id?: string
  simple?: { limit: number; period: number }
}

/** The JSON part of an upload. */
interface UploadMetadata {
  main_module: string
  bindings: UploadBinding[]
  compatibility_date: string
  compatibility_flags: string[]
  migrations?: { new_tag: string; old_tag?: string }
  keep_bindings?: string[]
  placement?: Record<string, string>
  limits?: { cpu_ms: number }
}

interface Version {
  id: string
  metadata: UploadMetadata
  /** Contents by name. */
  modules: Map<string, Uint8Array>
  secrets: Map<string, string>
}

interface PlatformWorker {
  name: string
  /** Every version that was uploaded, the oldest first. */
  versions: Version[]
  current: Version | undefined
  migrationTag: string | undefined
  routes: string[]
  schedules: string[]
  isOnWorkersDev: boolean
}

export interface Platform {
  /** For CLOUDFLARE_API_BASE_URL. */
  api: string
  token: string
  account: string
  /** Where the edge answers. */
  edge: string
  calls: ApiCall[]
  workers: Map<string, PlatformWorker>
  /** Every line that the workers logged. */
  log: string[]
  /** Decides about each call. @param index counts all calls, from 0. */
  interfere: (call: ApiCall, index: number) => Interference
  /** Whether the account has Workers Free. */
  isFree: boolean
  stop(): Promise<void>
}

/** A refusal of the API. */
class Refusal extends Error {
  readonly status: number
  readonly errors: { code: number; message: string }[]

  constructor(status: number, code: number, message: string) {
    super(message)
    this.status = status
    this.errors = [{ code, message }]
  }
}

const account = 'acc0000000000000000000000000000a'
const zone = { id: 'zone000000000000000000000000000a', name: '127.0.0.1' }

/** @param port of the edge, free. */
export async function startPlatform(port: number): Promise<Platform> {
  const edge = new Edge()
  const platform: Platform = {
    api: '',
    token: 'cloudflare-token',
    account,
    edge: `http://127.0.0.1:${port}`,
    calls: [],
    workers: new Map(),
    log: edge.log,
    interfere: () => 'answer',
    isFree: false,
    async stop() {
      for (const server of [apiServer, edgeServer]) {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      }
      await edge.stop()
    },
  }
  const api = new Api(platform, edge)
  const apiServer = http.createServer((request, response) => void api.handle(request, response))
  const edgeServer = http.createServer((request, response) => void edge.handle(request, response, platform.workers))
  await new Promise<void>((resolve) => apiServer.listen(0, '127.0.0.1', resolve))
  await new Promise<void>((resolve) => edgeServer.listen(port, '127.0.0.1', resolve))
  platform.api = `http://127.0.0.1:${(apiServer.address() as AddressInfo).port}/client/v4`
  return platform
}

class Api {
  readonly #platform: Platform
  readonly #edge: Edge

  constructor(platform: Platform, edge: Edge) {
    this.#platform = platform
    this.#edge = edge
  }

  async handle(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const url = new URL(request.url!, 'http://api')
    const path = url.pathname.replace('/client/v4', '').replace(`/accounts/${account}/`, '/')
    const call: ApiCall = { method: request.method!, path }
    const { calls, interfere, token } = this.#platform
    const interference = interfere(call, calls.push(call) - 1)
    if (interference === 'hang') return
    if (interference === 'cut') return void request.socket.destroy()
    const body = await bytesOf(request)
    const send = (status: number, json: object) => {
      if (interference === 'cut after') return void request.socket.destroy()
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
    }
    try {
      if (interference === 'refuse') throw new Refusal(500, 10001, 'an internal error of the platform')
      if (request.headers.authorization !== `Bearer ${token}`) throw new Refusal(403, 10000, 'Authentication error')
      const result = await this.#answer(call, url.searchParams, body, request.headers['content-type'] ?? '')
      const info = { page: 1, per_page: 50, count: 1, total_count: 1, total_pages: 1 }
      send(200, { success: true, errors: [], messages: [], result, result_info: info })
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      send(error.status, { success: false, errors: error.errors, messages: [], result: null })
    }
  }

  async #answer({ method, path }: ApiCall, query: URLSearchParams, body: Buffer, type: string): Promise<unknown> {
    if (path === '/accounts') return [{ id: account, name: 'the account' }]
    if (path === '/zones') return query.get('name') === zone.name ? [zone] : []
    if (path === `/zones/${zone.id}/workers/routes`) {
      return [...this.#platform.workers.values()].flatMap(({ name, routes }) =>
        routes.map((pattern) => ({ pattern, script: name })),
      )
    }
    if (path === '/workers/scripts') {
      return [...this.#platform.workers.values()].map(({ name, migrationTag }) => ({
        id: name,
        ...(migrationTag === undefined ? {} : { migration_tag: migrationTag }),
      }))
    }
    const [, kind, name, rest = ''] = /^\/workers\/(scripts|services)\/([^/]+)(?:\/(.*))?$/.exec(path) ?? []
    if (kind === undefined) throw new Refusal(404, 7003, `the stand-in has no ${method} ${path}`)
    return this.#worker(`${method} ${rest}`, name!, body, type, kind === 'services')
  }

  async #worker(operation: string, name: string, body: Buffer, type: string, isService: boolean): Promise<unknown> {
    if (operation === 'PUT ') {
      const version = await this.#upload(name, body, type)
      const worker = this.#platform.workers.get(name)!
      const tag = version.metadata.migrations?.new_tag
      if (tag !== undefined) worker.migrationTag = tag
      await this.#serve(worker, version)
      return { id: name, etag: 'etag', deployment_id: version.id.replaceAll('-', ''), startup_time_ms: 7 }
    }
    const worker = this.#platform.workers.get(name)
    if (!worker?.current)
      throw new Refusal(404, isService ? 10090 : 10007, 'This Worker does not exist on your account.')
    if (isService) return { default_environment: { environment: 'production', script: { tag: name, tags: [] } } }
    switch (operation) {
      case 'GET secrets':
        return [...worker.current.secrets.keys()].map((one) => ({ name: one, type: 'secret_text' }))
      case 'GET settings':
        return { bindings: worker.current.metadata.bindings.map(withoutSecret) }
      case 'GET deployments':
        return {
          deployments: [
            { id: 'one', source: 'wrangler', versions: [{ version_id: worker.current.id, percentage: 100 }] },
          ],
        }
      case 'POST versions': {
        const version = await this.#upload(name, body, type)
        return { id: version.id, resources: { script: { etag: 'etag' } }, startup_time_ms: 7 }
      }
      case 'POST deployments': {
        const [{ version_id: id }] = JSON.parse(body.toString()).versions
        await this.#serve(worker, worker.versions.find((one) => one.id === id)!)
        return { id: 'one' }
      }
      case 'PATCH script-settings':
        return {}
      case 'GET subdomain':
        return { enabled: worker.isOnWorkersDev, previews_enabled: false }
      case 'POST subdomain':
        worker.isOnWorkersDev = JSON.parse(body.toString()).enabled
        return { enabled: worker.isOnWorkersDev, previews_enabled: false }
      case 'PUT routes':
        worker.routes = JSON.parse(body.toString()).map(({ pattern }: { pattern: string }) => pattern)
        return worker.routes.map((pattern) => ({ pattern }))
      case 'PUT schedules':
        worker.schedules = JSON.parse(body.toString()).map(({ cron }: { cron: string }) => cron)
        return { schedules: worker.schedules }
      default:
        throw new Refusal(404, 7003, `the stand-in has no ${operation} of a worker`)
    }
  }

  /** Takes a version, as the platform does: what it must inherit or be bound to has to exist. */
  async #upload(name: string, body: Buffer, type: string): Promise<Version> {
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData()
    const metadata = JSON.parse(String(form.get('metadata'))) as UploadMetadata
    const { workers, isFree } = this.#platform
    if (isFree && metadata.limits) throw new Refusal(400, 100328, 'CPU limits are not supported for the Free plan.')
    for (const { type, name: binding, service } of metadata.bindings) {
      if (type === 'service' && !workers.get(service!)?.current) {
        throw new Refusal(
          400,
          10143,
          `Could not resolve service binding '${binding}'. Target script '${service}' not found.`,
        )
      }
    }
    const before = workers.get(name)
    const kept = metadata.keep_bindings?.includes('secret_text') ? (before?.current?.secrets ?? []) : []
    const secrets = new Map<string, string>(kept)
    for (const { type, name: secret, text } of metadata.bindings) {
      if (type === 'secret_text') secrets.set(secret, text!)
      if (type === 'inherit') {
        const value = before?.current?.secrets.get(secret)
        if (value === undefined) throw new Refusal(400, 10057, `inherit binding '${secret}' is invalid`)
        secrets.set(secret, value)
      }
    }
    const modules = new Map<string, Uint8Array>()
    for (const [module, part] of form) {
      if (typeof part === 'string' || part.type === 'application/source-map') continue
      modules.set(module, new Uint8Array(await part.arrayBuffer()))
    }
    const version = { id: randomUUID(), metadata, modules, secrets }
    const worker = before ?? {
      name,
      versions: [],
      current: undefined,
      migrationTag: undefined,
      routes: [],
      schedules: [],
      isOnWorkersDev: true,
    }
    worker.versions.push(version)
    workers.set(name, worker)
    return version
  }

  async #serve(worker: PlatformWorker, version: Version): Promise<void> {
    worker.current = version
    await this.#edge.serve([...this.#platform.workers.values()])
  }
}

/** The settings of a worker have the names of its secrets alone. */
function withoutSecret(binding: UploadBinding): UploadBinding {
  if (binding.type !== 'secret_text') return binding
  const { text: _value, ...rest } = binding
  return rest
}

/** Serves the uploaded workers. */
class Edge {
  readonly log: string[] = []
  #runtime: Miniflare | undefined

  async serve(workers: readonly PlatformWorker[]): Promise<void> {
    const options: MiniflareOptions = {
      host: '127.0.0.1',
      port: 0,
      cf: false,
      log: new Log(LogLevel.NONE),
      structuredWorkerdLogs: true,
      handleStructuredLogs: ({ message }: { message: string }) => void this.log.push(message),
      workers: workers.filter(({ current }) => current).map(workerOptions),
    }
    if (this.#runtime) await this.#runtime.setOptions(options)
    else this.#runtime = new Miniflare(options)
    await this.#runtime.ready
  }

  async handle(
    request: http.IncomingMessage,
    response: http.ServerResponse,
    workers: ReadonlyMap<string, PlatformWorker>,
  ): Promise<void> {
    const { pathname } = new URL(request.url!, 'http://edge')
    const body = await bytesOf(request)
    const [route] = [...workers.values()]
      .flatMap(({ name, routes }) => routes.map((pattern) => ({ name, pattern })))
      .filter(({ pattern }) => matches(pattern, `127.0.0.1${pathname}`))
      .sort((a, b) => b.pattern.length - a.pattern.length)
    if (!route || !this.#runtime) return void response.writeHead(530).end('no route of the zone matches')
    const { method = 'GET', headers } = request
    // miniflare's `getWorker` would block this process, and with it the reader of workerd's log
    const answer = await this.#runtime.dispatchFetch(`http://${headers.host}${request.url}`, {
      method,
      headers: {
        ...(headers as Record<string, string>),
        'cf-connecting-ip': '127.0.0.1',
        'MF-Route-Override': route.name,
      },
      redirect: 'manual',
      ...(body.length > 0 ? { body } : {}),
    })
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.end(Buffer.from(await answer.arrayBuffer()))
  }

  async stop(): Promise<void> {
    await this.#runtime?.dispose()
  }
}

/** A pattern of a zone route: `*` stands at its end alone. */
function matches(pattern: string, address: string): boolean {
  return pattern.endsWith('*') ? address.startsWith(pattern.slice(0, -1)) : address === pattern
}

/** The worker as the platform starts it: nothing comes from the project's folder. */
function workerOptions({ name, current }: PlatformWorker): WorkerOptions {
  const { metadata, modules, secrets } = current!
  const ofType = (type: string) => metadata.bindings.filter((binding) => binding.type === type)
  const main = metadata.main_module
  const names = [...modules.keys()].sort((a, b) => Number(b === main) - Number(a === main))
  return {
    name,
    modulesRoot: '/',
    modules: names.map((module) => ({
      type: module.endsWith('.wasm') ? ('CompiledWasm' as const) : ('ESModule' as const),
      path: `/${module}`,
      contents: modules.get(module)!,
    })),
    compatibilityDate: metadata.compatibility_date,
    compatibilityFlags: metadata.compatibility_flags,
    bindings: {
      ...Object.fromEntries(ofType('plain_text').map((binding) => [binding.name, binding.text!])),
      ...Object.fromEntries(secrets),
    },
    serviceBindings: Object.fromEntries(ofType('service').map((binding) => [binding.name, binding.service!])),
    durableObjects: Object.fromEntries(
      ofType('durable_object_namespace').map((binding) => [binding.name, binding.class_name!]),
    ),
    ratelimits: Object.fromEntries(
      ofType('ratelimit').map((binding) => [
        binding.name,
        { namespace_id: binding.namespace_id!, simple: binding.simple as never },
      ]),
    ),
  }
}

async function bytesOf(request: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
