/** One request while it is served, with everything that each step of its path needs. */
import type { LogLevel } from '../src/sdk/scope.ts'
import { newId } from '../src/wire/ids.ts'
import type { Env } from './env.ts'
import { writeLine } from './log.ts'
import { type Trace, traceOf } from './trace.ts'

export interface Call {
  request: Request
  env: Env
  /** `req_…`: stands in the log, in `x-request-id` and in every error. */
  requestId: string
  /** The path as the client sent it: percent-encoded, without the query. */
  path: string
  /** The query with its `?`, or an empty text. */
  search: string
  /** A route was found: the answer may depend on the caller. */
  varies: boolean
  /** The answer depends on the caller: shared caches must not keep it. */
  isPersonal: boolean
  /** The `sub` claim, once the access token was verified. */
  subject: string | undefined
  /** The trace that the request belongs to, if the request names one (W3C Trace Context). */
  trace: Trace | undefined
  log(level: LogLevel, message: string, fields?: Record<string, unknown>): void
  /** Keeps the isolate alive for work that outlives the answer. */
  waitUntil(promise: Promise<unknown>): void
}

export function beginCall(request: Request, env: Env, context: ExecutionContext): Call {
  const requestId = newId('req_')
  const { url } = request // a getter that makes a new text at each access
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

/** @returns the name in `/webhooks/<name>` as the client sent it; `undefined` for every other path. */
export function webhookName(path: string): string | undefined {
  if (path === '/webhooks') return ''
  return path.startsWith('/webhooks/') ? path.slice('/webhooks/'.length) : undefined
}
