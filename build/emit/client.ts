/** Makes `.stack/client.d.ts` and `client.js`: a fetch client with one flat signature for each route. Pure. */
import type { Parameter, Route } from '../../runtime/table.ts'
import type { Linked } from '../link/index.ts'
import { type Descriptions, membersOf } from './descriptions.ts'
import { declarationText, keyText, quoted, typeText } from './json-schema-text.ts'
import { describeGate } from './report.ts'

/** The types import nothing, so that a frontend can check them without the project and without this package. */
export function clientTypes({ table }: Linked, descriptions: Descriptions): string {
  const { definitions } = descriptions
  const named = Object.entries(definitions).map(([name, schema]) => declarationText(name, schema))
  return `// Written by "stack build" from the route table.
type Value = string | number | boolean
type Request<T = unknown> = T & { signal?: AbortSignal }

${named.join('')}
/** One method for each route, by method and path. Rejects with \`ClientError\` for every status from 400 on. */
export interface Client {
${table.routes.map((route, index) => signature(route, index, descriptions)).join('')}}

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

/** Arguments have the types that schemas take. The result has the type of the handler's result as JSON. */
function signature(route: Route, index: number, descriptions: Descriptions): string {
  const { method, path: address, gate, parameters, file, line } = route
  const { inputs, bodies, results } = descriptions
  const parts: string[] = []
  const names = [...address.matchAll(/:([^/]+)/g)].map(([, name]) => name!)
  if (names.length > 0) {
    const texts = names.map((name) => {
      const own = parameters.find((one) => one.from === 'param' && one.name === name)
      return `${keyText(name)}: ${valueText(own, descriptions)}`
    })
    parts.push(`params: { ${texts.join('; ')} }`)
  }
  const query = queryText(parameters, descriptions)
  if (query) parts.push(query)
  const headers = membersText(parameters, 'header', descriptions)
  if (headers) parts.push(`headers${headers.isOptional ? '?' : ''}: ${headers.text}`)
  const body = parameters.find((one) => one.from === 'body')
  if (body) {
    const schema = 'schema' in body && body.schema !== undefined ? inputs[body.schema] : bodies[index]
    parts.push(`body: ${typeText(schema)}`)
  }
  const isOptional = parts.every((part) => /^\w+\?:/.test(part))
  const request = parts.length > 0 ? `Request<{ ${parts.join('; ')} }>` : 'Request'
  const { schema, isOptional: mayBeNothing } = results[index] ?? { schema: {}, isOptional: false }
  const result = [...(schema ? [typeText(schema)] : []), ...(mayBeNothing || !schema ? ['undefined'] : [])]
  return `  /** ${`Admits: ${describeGate(gate)}. ${file}:${line}`.replaceAll('*/', '* /')} */
  ${quoted(`${method} ${address}`)}(request${isOptional ? '?' : ''}: ${request}): Promise<${result.join(' | ')}>\n`
}

function queryText(parameters: readonly Parameter[], descriptions: Descriptions): string | undefined {
  const whole = parameters.find((one) => one.from === 'wholeQuery')
  const single = membersText(parameters, 'query', descriptions)
  if (!whole) return single && `query${single.isOptional ? '?' : ''}: ${single.text}`
  const schema = 'schema' in whole && whole.schema !== undefined ? descriptions.inputs[whole.schema] : undefined
  const text = typeText(schema)
  const own = text === 'unknown' ? '{ [name: string]: Value | readonly Value[] | undefined }' : text
  const members = schema ? [...membersOf(schema, descriptions.definitions).values()] : []
  const isOptional = members.every(({ isRequired }) => !isRequired) && (single?.isOptional ?? true)
  return `query${isOptional ? '?' : ''}: ${single ? `(${own}) & ${single.text}` : own}`
}

function membersText(
  parameters: readonly Parameter[],
  from: 'query' | 'header',
  descriptions: Descriptions,
): { text: string; isOptional: boolean } | undefined {
  const named = new Map<string, { text: string; isOptional: boolean }>()
  for (const one of parameters) {
    if (one.from !== from) continue
    const isOptional = one.schema === undefined || descriptions.isOptional[one.schema] !== false
    const before = named.get(one.name) // Two parameters may read one value, which must then satisfy both types.
    const text = valueText(one, descriptions)
    named.set(
      one.name,
      before && before.text !== text ? { text: `(${before.text}) & (${text})`, isOptional } : { text, isOptional },
    )
  }
  if (named.size === 0) return undefined
  const members = [...named].map(([name, { text, isOptional }]) => `${keyText(name)}${isOptional ? '?' : ''}: ${text}`)
  return { text: `{ ${members.join('; ')} }`, isOptional: [...named.values()].every(({ isOptional }) => isOptional) }
}

/** A parameter without a schema takes the text of any value, and so does one whose schema's input is not known. */
function valueText(parameter: Parameter | undefined, { inputs }: Descriptions): string {
  const schema =
    parameter && 'schema' in parameter && parameter.schema !== undefined ? inputs[parameter.schema] : undefined
  const text = typeText(schema)
  return text === 'unknown' ? 'Value' : text
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
