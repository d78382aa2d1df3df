/** How a result and an error become the answer (contract 2.3, 6). */
import { HttpError, refuse } from '../src/sdk/errors.ts'
import type { ErrorEnvelope } from '../src/wire/envelope.ts'
import type { Call } from './call.ts'
import { CommitFailed, SqlError, Unavailable } from './database/unavailable.ts'
import { errorFields } from './log.ts'

/**
 * A `Response` is sent as it is, an `HttpError` as the envelope that throwing it gives, `undefined` is 204, anything else is JSON.
 * @throws for what JSON cannot hold.
 */
export function reply(call: Call, result: unknown, status: number): Response {
  if (result instanceof HttpError) return envelope(call, result)
  if (result instanceof Response) {
    const answer = new Response(result.body, result) // the headers of a fetched response are immutable
    const { headers } = answer
    headers.set('x-request-id', call.requestId)
    if (!headers.has('x-content-type-options')) headers.set('x-content-type-options', 'nosniff')
    // a handler that says how long its answer lives knows whose it is
    if (call.isPersonal && !headers.has('cache-control')) headers.set('cache-control', 'no-store')
    if (call.varies && !/(?:^|[,\s])(?:authorization|\*)(?:[,\s]|$)/i.test(headers.get('vary') ?? '')) {
      headers.append('vary', 'authorization')
    }
    return answer
  }
  if (result === undefined) {
    const headers = new Headers(ownHeaders(call))
    headers.delete('content-type')
    return new Response(null, { status: 204, headers })
  }
  return json(call, result, status)
}

/** What `OPTIONS` is told: the methods of the address, and nothing else (RFC 9110 section 9.3.7). */
export function options(call: Call, allow: string, others: Record<string, string> = {}): Response {
  const headers = { allow, 'cache-control': 'no-store', ...others }
  return reply(call, new Response(null, { status: 204, headers }), 204)
}

/** The envelope of whatever was thrown; the reason of what is not an `HttpError` only reaches the log. */
export function fail(call: Call, error: unknown): Response {
  try {
    return envelope(call, answerOf(call, error))
  } catch (unprintable) {
    call.log('error', 'the error could not be sent as it was thrown', errorFields(unprintable))
    return envelope(call, refuse('internal_error'))
  }
}

function answerOf(call: Call, error: unknown): HttpError {
  if (error instanceof HttpError) return error
  if (error instanceof Unavailable) {
    call.log('error', 'the database is unavailable', errorFields(error))
    return refuse('unavailable')
  }
  const known = sqlAnswer(error)
  call.log(known ? 'warn' : 'error', 'the request failed', errorFields(error))
  return known ?? refuse('internal_error')
}

/**
 * What an uncaught SQL error means to the caller (contract 2.13), also where it came up at COMMIT. The answer says
 * nothing of the statement, its values or its constraint.
 */
function sqlAnswer(error: unknown): HttpError | undefined {
  const sql = error instanceof CommitFailed ? error.cause : error
  if (!(sql instanceof SqlError)) return undefined
  // the routine tells a row that a policy refuses from a privilege that is missing: the latter is the project's mistake
  if (sql.code === '42501' && sql.routine === 'ExecWithCheckOptions') return refuse('forbidden')
  if (sql.code === '23505') return refuse('conflict')
  if (sql.code !== '40001' && sql.code !== '40P01') return undefined
  return refuse('unavailable', undefined, { headers: { 'retry-after': '1' } })
}

function envelope(call: Call, { status, code, message, details }: HttpError): Response {
  const body: ErrorEnvelope = {
    ...details.body,
    ...(details.fields ? { fields: details.fields } : {}),
    error: code,
    error_description: message,
    status,
    request_id: call.requestId,
  }
  return json(call, body, status, details.headers)
}

function json(call: Call, body: unknown, status: number, headers?: Record<string, string>): Response {
  const text = JSON.stringify(body)
  if (text === undefined) throw new TypeError(`a handler returned a ${typeof body}, which is no JSON`)
  return new Response(text, { status, headers: ownHeaders(call, headers, status === 401 && call.varies) })
}

/**
 * The runtime's headers win over a project's, however the project writes their names.
 * @param asksForToken the 401 of a route names the scheme that it takes (RFC 9110 section 11.6.1), unless the project names its own.
 */
function ownHeaders(
  call: Call,
  others?: Record<string, string>,
  asksForToken = false,
): Headers | Record<string, string> {
  const own = {
    'content-type': 'application/json',
    'x-request-id': call.requestId,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(call.varies ? { vary: 'authorization' } : {}),
  }
  const challenge: Record<string, string> = asksForToken ? { 'www-authenticate': 'Bearer' } : {}
  if (others === undefined) return { ...own, ...challenge }
  const headers = new Headers({ ...challenge, ...others })
  for (const [name, value] of Object.entries(own)) headers.set(name, value)
  return headers
}
