/** One request while it is served: what every step of its path needs to know. */
import type { LogLevel } from '../src/sdk/scope.ts'
import { newId } from '../src/wire/ids.ts'
import { writeLine } from './log.ts'
import { type Trace, traceOf } from './trace.ts'

export type Env = Record<string, unknown>

export interface Call {
  request: Request
  env: Env
  /** `req_…`, in the log, in `x-request-id` and in every error. */
  requestId: string
  /** As sent: percent-encoded, without the query. */
  path: string
  /** With its `?`, or empty. */
  search: string
  /** A route was found: the answer may depend on the caller. */
  varies: boolean
  /** The answer depends on the caller: shared caches must not keep it. */
  isPersonal: boolean
  /** The `sub` claim, once the access token was verified. */
  subject: string | undefined
  /** Trace that the request belongs to, if it names one (W3C Trace Context). */
  trace: Trace | undefined
  log(level: LogLevel, message: string, fields?: Record<string, unknown>): void
  /** Keeps the isolate alive for work that outlives the answer. */
  waitUntil(promise: Promise<unknown>): void
}

export function beginCall(request: Request, env: Env, context: ExecutionContext): Call {
  const requestId = newId('req_')
  const { url } = request // each look at it makes a new text
  const afterHost = url.indexOf('/', url.indexOf('//') + 2)
  const query = url.indexOf('?', afterHost)
  const trace = traceOf(request.headers)
  const identifying = { ...trace?.fields, request_id: requestId }
  return {
    request,
    env,
    requestId,
    path: query === -1 ? url.slice(afterHost) : url.slice(afterHost, query),
    search: query === -1 ? '' : url.slice(query),
    varies: false,
    isPersonal: false,
    subject: undefined,
    trace,
    log: (level, message, fields) => writeLine(env, level, message, { ...fields, ...identifying }),
    waitUntil: (promise) => context.waitUntil(promise),
  }
}

/** @returns the name in `/webhooks/<name>`, still as sent; `undefined` for every path outside the reserved segment. */
export function webhookName(path: string): string | undefined {
  if (path === '/webhooks') return ''
  return path.startsWith('/webhooks/') ? path.slice('/webhooks/'.length) : undefined
}

/** A binding that is text, or `undefined` when it is absent or empty. */
export function textBinding(env: Env, name: string): string | undefined {
  const value = Object.hasOwn(env, name) ? env[name] : undefined
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The stack's base URL, without a slash at its end (contract 1.2). */
export function stackUrl(env: Env): string | undefined {
  return textBinding(env, 'STACK_URL')?.replace(/\/+$/, '')
}

/** The `iss` of tokens that this stack's own auth worker issues (contract 1.2). */
export function ownIssuer(env: Env): string | undefined {
  const base = stackUrl(env)
  return base === undefined ? undefined : `${base}/auth`
}
