/** How a result and an error become the answer (contract 2.3, 6). */
import { HttpError, refuse } from '../src/sdk/errors.ts'
import type { ErrorEnvelope } from '../src/wire/envelope.ts'
import type { Call } from './call.ts'
import { Unavailable } from './database/unavailable.ts'
import { errorFields } from './log.ts'

/** A `Response` is sent as it is, `undefined` is 204, anything else is JSON. */
export function reply(call: Call, result: unknown, status: number): Response {
  if (result instanceof Response) {
    const answer = new Response(result.body, result) // the headers of a fetched response are immutable
    answer.headers.set('x-request-id', call.requestId)
    return answer
  }
  const headers = { 'x-request-id': call.requestId, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
  if (result === undefined) return new Response(null, { status: 204, headers })
  return Response.json(result, { status, headers })
}

/** The envelope of whatever was thrown; the reason of what is not an `HttpError` only reaches the log. */
export function fail(call: Call, error: unknown): Response {
  if (error instanceof HttpError) return envelope(call, error)
  if (error instanceof Unavailable) {
    call.log('error', 'the database is unavailable', errorFields(error))
    return envelope(call, refuse('unavailable'))
  }
  call.log('error', 'the request failed', errorFields(error))
  return envelope(call, refuse('internal_error'))
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
  return Response.json(body, {
    status,
    headers: {
      ...details.headers,
      'x-request-id': call.requestId,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  })
}
