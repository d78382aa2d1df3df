/** Request bodies of routes, within limits of size and time (contract 2.11). They are read before a transaction opens. */
import { httpError } from '../src/sdk/errors.ts'
import { parseJson } from './bytes.ts'
import type { Call } from './call.ts'
import type { Parameter, Route } from './table.ts'
import { createUploads, tooLargeError } from './uploads.ts'

/** Shared by every request of the isolate. */
export const holdBody = createUploads()

/**
 * Reads the body for `@Body()`. A handler with `@Req()` alone reads the body itself. Beside `@Body()` its request has the same
 * bytes once more.
 * @returns the bytes, where a parameter takes them.
 * @throws HttpError 413, 408, 503
 */
export async function readBody(call: Call, { parameters, maxBodyBytes }: Route): Promise<Uint8Array | undefined> {
  const takes = (from: Parameter['from']) => parameters.some((parameter) => parameter.from === from)
  const takesRequest = takes('request')
  if (!takes('body')) {
    if (takesRequest) call.request = bounded(call.request, maxBodyBytes)
    return undefined
  }
  const { bytes, release } = await holdBody(call.request, { most: maxBodyBytes })
  release() // the transaction's time limit bounds how long the handler holds the body
  if (takesRequest) call.request = new Request(call.request, { body: bytes })
  return bytes
}

/**
 * The request for a handler that reads the body itself. The platform enforces a stated length, so only a chunked body is
 * counted: its stream fails where it is too long.
 * @throws HttpError 413 for a stated length that is too large.
 */
function bounded(request: Request, most: number): Request {
  const stated = request.headers.get('content-length')
  if (stated !== null && Number(stated) > most) throw tooLargeError(most)
  if (stated !== null || request.body === null) return request
  let length = 0
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      length += chunk.length
      if (length > most) controller.error(tooLargeError(most))
      else controller.enqueue(chunk)
    },
  })
  return new Request(request, { body: request.body.pipeThrough(counter) })
}

/** @throws HttpError 415 for another content type, 400 `invalid_request` for a body that is not JSON. */
export function parseBody(request: Request, bytes: Uint8Array): { value: unknown; text: string } {
  const type = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== undefined && type !== 'application/json' && !/^application\/[a-z0-9.+-]+\+json$/.test(type)) {
    throw httpError('unsupported_media_type')
  }
  if (bytes.length === 0) throw bodyError('a JSON body is required')
  if (type === undefined) throw httpError('unsupported_media_type')
  const parsed = parseJson(bytes)
  if (!parsed) throw bodyError('the body is not valid JSON')
  return parsed
}

function bodyError(reason: string) {
  return httpError('invalid_request', reason, { fields: [{ path: 'body', reason }] })
}
