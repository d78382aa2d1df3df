/** Request bodies of routes, within bounds of size and time (contract 2.11). Nothing in here waits while a transaction is open. */
import { refuse } from '../src/sdk/errors.ts'
import { parseJson } from './bytes.ts'
import type { Call } from './call.ts'
import type { Parameter, Route } from './table.ts'
import { createUploads, tooLarge } from './uploads.ts'

/** Shared by every request of the isolate. */
export const holdBody = createUploads()

/**
 * Called before a transaction opens. A handler with `@Req()` alone reads the body itself; beside `@Body()` it gets the same bytes.
 * @returns the bytes that `@Body()` takes, if a parameter has it. @throws HttpError 413, 408, 503
 */
export async function takeBody(call: Call, { parameters, maxBodyBytes }: Route): Promise<Uint8Array | undefined> {
  const takes = (from: Parameter['from']) => parameters.some((parameter) => parameter.from === from)
  const takesRequest = takes('request')
  if (!takes('body')) {
    if (takesRequest) call.request = bounded(call.request, maxBodyBytes)
    return undefined
  }
  const { bytes, release } = await holdBody(call.request, { most: maxBodyBytes })
  release() // it is the handler's from here
  if (takesRequest) call.request = new Request(call.request, { body: bytes })
  return bytes
}

/**
 * The request for a handler that reads the body itself: its stream fails where the body is longer than it may be. A stated
 * length is the most that the platform lets through, so only a chunked body needs to be counted.
 * @throws HttpError 413 for a stated length that is too large.
 */
function bounded(request: Request, most: number): Request {
  if (statedLength(request, most) !== undefined || request.body === null) return request
  let length = 0
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      length += chunk.length
      if (length > most) controller.error(tooLarge(most))
      else controller.enqueue(chunk)
    },
  })
  return new Request(request, { body: request.body.pipeThrough(counter) })
}

/** @throws HttpError 413 */
function statedLength(request: Request, most: number): number | undefined {
  const header = request.headers.get('content-length')
  if (header === null) return undefined
  const length = Number(header)
  if (length > most) throw tooLarge(most)
  return length
}

/** @throws HttpError 415 for another content type, 400 `invalid_request` for what is not JSON. */
export function parseBody(request: Request, bytes: Uint8Array): { value: unknown; text: string } {
  const type = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== undefined && type !== 'application/json' && !/^application\/[a-z0-9.+-]+\+json$/.test(type)) {
    throw refuse('unsupported_media_type')
  }
  if (bytes.length === 0) throw malformed('a JSON body is required')
  if (type === undefined) throw refuse('unsupported_media_type')
  const parsed = parseJson(bytes)
  if (!parsed) throw malformed('the body is not valid JSON')
  return parsed
}

function malformed(reason: string) {
  return refuse('invalid_request', reason, { fields: [{ path: 'body', reason }] })
}
