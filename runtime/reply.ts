/** Turns a handler's result or an error into the answer (contract 2.3, 6). Only this file builds the error envelope. */
import { HttpError, httpError } from '../src/sdk/errors.ts'
import type { ErrorEnvelope } from '../src/wire/envelope.ts'
import type { Call } from './call.ts'
import { CommitFailed, SqlError, Unavailable } from './database/unavailable.ts'
import { errorFields } from './log.ts'

/**
 * A `Response` is sent as it is, an `HttpError` as its envelope, `undefined` is 204, any other value is sent as JSON.
 * @throws for a value that JSON cannot hold.
 */
export function reply(call: Call, result: unknown, status: number): Response {
  if (result instanceof HttpError) return envelope(call, result)
  if (result instanceof Response) {
    const answer = new Response(result.body, result) // the headers of a fetched response are immutable
    const { headers } = answer
    headers.set('x-request-id', call.requestId)
    if (!headers.has('x-content-type-options')) headers.set('x-content-type-options', 'nosniff')
    // a handler that sets cache-control has decided itself who may see the answer
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

/** Answers `OPTIONS` with the methods of the address (RFC 9110 section 9.3.7). */
export function options(call: Call, allow: string, others: Record<string, string> = {}): Response {
  const headers = { allow, 'cache-control': 'no-store', ...others }
  return reply(call, new Response(null, { status: 204, headers }), 204)
}

/** Answers a thrown value with the error envelope. Unless it is an `HttpError`, its message only reaches the log. */
export function fail(call: Call, error: unknown): Response {
  try {
    return envelope(call, httpErrorFor(call, error))
  } catch (unprintable) {
    call.log('error', 'the error could not be sent as it was thrown', errorFields(unprintable))
    return envelope(call, httpError('internal_error'))
  }
}

function httpErrorFor(call: Call, error: unknown): HttpError {
  if (error instanceof HttpError) return error
  if (error instanceof Unavailable) {
    call.log('error', 'the database is unavailable', errorFields(error))
    return httpError('unavailable')
  }
  const known = sqlHttpError(error)
  call.log(known ? 'warn' : 'error', 'the request failed', errorFields(error))
  return known ?? httpError('internal_error')
}

/**
 * The answer to an SQL error that the handler did not catch, or that Postgres raised at COMMIT (contract 2.13). It does not
 * contain the statement, its values or its constraint.
 * @returns `undefined` for an error that is answered with 500.
 */
function sqlHttpError(error: unknown): HttpError | undefined {
  const sql = error instanceof CommitFailed ? error.cause : error
  if (!(sql instanceof SqlError)) return undefined
  // the routine distinguishes a row that a policy refuses from a missing privilege, which is the project's fault
  if (sql.code === '42501' && sql.routine === 'ExecWithCheckOptions') return httpError('forbidden')
  if (sql.code === '23505') return httpError('conflict')
  if (sql.code !== '40001' && sql.code !== '40P01') return undefined
  return httpError('unavailable', undefined, { headers: { 'retry-after': '1' } })
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
  if (text === undefined) throw new TypeError(`a handler returned a ${typeof body}, which JSON cannot hold`)
  return new Response(text, { status, headers: ownHeaders(call, headers, status === 401 && call.varies) })
}

/**
 * The runtime's headers replace a project's of the same name in any spelling.
 * @param asksForToken adds `www-authenticate`, which the 401 of a route must have (RFC 9110 section 11.6.1), unless the project
 * sets its own.
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
