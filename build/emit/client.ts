/** `.stack/client.d.ts` and `client.js`: a fetch client of the route table, one flat signature for each route. Pure. */
import path from 'node:path'
import type { Parameter, Route } from '../../runtime/table.ts'
import type { Linked } from '../link/index.ts'
import { describeGate } from './report.ts'

/** @param root absolute path of the project. @param out where the file will stand: it imports types of the project. */
export function clientTypes({ table, classes }: Linked, root: string, out: string): string {
  const { routes } = table
  const used = [...new Set(routes.map(({ controller }) => controller))].sort((a, b) => a - b)
  const imports = used.map((index) => {
    const { name, exportName = name, file } = classes[index]!
    const from = path.relative(out, path.join(root, file)).split(path.sep).join('/')
    return `import type { ${exportName} as C${index} } from '${from.startsWith('.') ? from : `./${from}`}'\n`
  })
  return `// Written by "stack build" from the route table.
${imports.join('')}
/** What JSON makes of a result. */
type Json<T> = T extends { toJSON(): infer U } ? Json<U> : T extends object ? { [K in keyof T]: Json<T[K]> } : T
type Result<T> = Awaited<T> extends Response ? unknown : Json<Awaited<T>>
type Value = string | number | boolean
type Request<T = unknown> = T & { signal?: AbortSignal }

/** One method for each route, by method and path. Rejects with \`ClientError\` for every status from 400 on. */
export interface Client {
${routes.map(signature).join('')}}

export interface ClientOptions {
  /** The access token, or what gives it for each request. */
  token?: string | (() => string | undefined | Promise<string | undefined>)
  /** Sent with every request. */
  headers?: Record<string, string>
  fetch?: typeof fetch
}

/** @param baseUrl like \`https://api.example.com\`. */
export declare function createClient(baseUrl: string, options?: ClientOptions): Client

/** The error envelope of an answer. */
export declare class ClientError extends Error {
  readonly status: number
  /** The envelope's \`error\`. */
  readonly code: string
  readonly requestId: string | null
  readonly fields: readonly { path: string; reason: string }[]
}
`
}

function signature({ method, path: address, controller, handler, gate, parameters, file, line }: Route): string {
  const own = `C${controller}[${quoted(handler)}]`
  const parts: string[] = []
  const names = [...address.matchAll(/:([^/]+)/g)].map(([, name]) => name!)
  if (names.length > 0) parts.push(`params: { ${names.map((name) => `${name}: Value`).join('; ')} }`)
  const whole = parameters.findIndex(({ from }) => from === 'wholeQuery')
  const query = named(parameters, 'query')
  if (whole !== -1) parts.push(`query: Parameters<${own}>[${whole}]`)
  else if (query.length > 0) parts.push(`query?: { ${query.map((name) => `${quoted(name)}?: Value`).join('; ')} }`)
  const headers = named(parameters, 'header')
  if (headers.length > 0) parts.push(`headers?: { ${headers.map((name) => `${quoted(name)}?: string`).join('; ')} }`)
  const body = parameters.findIndex(({ from }) => from === 'body')
  if (body !== -1) parts.push(`body: Parameters<${own}>[${body}]`)
  const isOptional = parts.every((part) => /^\w+\?:/.test(part))
  const request = parts.length > 0 ? `Request<{ ${parts.join('; ')} }>` : 'Request'
  return `  /** ${`Admits: ${describeGate(gate)}. ${file}:${line}`.replaceAll('*/', '* /')} */
  ${quoted(`${method} ${address}`)}(request${isOptional ? '?' : ''}: ${request}): Promise<Result<ReturnType<${own}>>>\n`
}

function named(parameters: readonly Parameter[], from: 'query' | 'header'): string[] {
  return [...new Set(parameters.flatMap((one) => (one.from === from ? [one.name] : [])))]
}

function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

export const clientSource = `// Written by "stack build": the client of client.d.ts.
export class ClientError extends Error {
  name = 'ClientError'
  constructor(status, { error, error_description, request_id, fields = [] }) {
    super(error_description ?? \`the server answered \${status}\`)
    Object.assign(this, { status, code: error ?? 'unknown', requestId: request_id ?? null, fields })
  }
}

export function createClient(baseUrl, { token, headers: common, fetch: send = fetch } = {}) {
  const call = async (method, path, { params = {}, query = {}, headers, body, signal } = {}) => {
    const address = path.replace(/:([^/]+)/g, (_, name) => segment(name, params[name]))
    const url = new URL(baseUrl.replace(/\\/$/, '') + address)
    for (const [name, values] of Object.entries(query)) {
      for (const value of [values].flat()) if (value != null) url.searchParams.append(name, value)
    }
    const given = Object.entries({ ...common, ...headers }).filter(([, value]) => value !== undefined)
    const all = new Headers(given)
    const bearer = typeof token === 'function' ? await token() : token
    if (bearer) all.set('authorization', \`Bearer \${bearer}\`)
    if (body !== undefined) all.set('content-type', 'application/json')
    const sent = body === undefined ? undefined : JSON.stringify(body)
    const response = await send(url, { method, headers: all, body: sent, signal })
    const text = await response.text()
    const isJson = /\\bjson\\b/.test(response.headers.get('content-type') ?? '')
    const result = isJson && text !== '' ? JSON.parse(text) : response.status === 204 ? undefined : text
    if (!response.ok) throw new ClientError(response.status, Object(result))
    return result
  }
  return new Proxy({}, {
    get(_, route) {
      const [method, path] = String(route).split(' ')
      return path === undefined || typeof route === 'symbol' ? undefined : (request) => call(method, path, request)
    },
  })
}

/** A segment that a URL would resolve away, or that is empty, would be another address. */
function segment(name, value) {
  const text = String(value ?? '')
  if (text === '' || text === '.' || text === '..') throw new TypeError(\`the path parameter "\${name}" cannot be "\${text}"\`)
  return encodeURIComponent(text)
}
`
