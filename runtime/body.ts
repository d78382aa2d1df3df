/** Request bodies of routes, within limits of size and time (contract 2.11). They are read before a transaction opens. */
import { HttpError, httpError } from '../src/sdk/errors.ts'
import { longestAssertedBody } from '../src/wire/device-assertion.ts'
import { parseJson } from './bytes.ts'
import type { Call } from './call.ts'
import type { AskedDevice } from './database/asked-device.ts'
import type { AssertedBody, DeviceCheck } from './devices/check.ts'
import type { Parameter, Route } from './table.ts'
import { createUploads, tooLargeError } from './uploads.ts'

/** Shared by every request of the isolate. */
export const holdBody = createUploads()

interface ReadBody {
  /** The bytes, where a parameter takes them. */
  bytes: Uint8Array | undefined
  /** The device that the database is asked about. */
  asked: AskedDevice | undefined
}

/**
 * Reads the body for `@Body()`. A handler with `@Req()` alone reads the body itself. Beside `@Body()` its request has the same
 * bytes once more.
 * @param device has signed the body: it is read for every route, as far as an assertion covers it.
 * @throws HttpError 413, 408, 503, and 403 `device_required` where the rule asks for a device.
 */
export async function readBody(
  call: Call,
  { parameters, maxBodyBytes }: Route,
  device: DeviceCheck | undefined,
): Promise<ReadBody> {
  const takes = (from: Parameter['from']) => parameters.some((parameter) => parameter.from === from)
  const takesRequest = takes('request')
  if (!takes('body')) {
    const asked = device && (await device.prove(await readAsserted(call, maxBodyBytes)))
    if (takesRequest) call.request = bounded(call.request, maxBodyBytes)
    return { bytes: undefined, asked }
  }
  const { bytes, release } = await holdBody(call.request, { most: maxBodyBytes })
  release() // the transaction's time limit bounds how long the handler holds the body
  if (takesRequest) call.request = new Request(call.request, { body: bytes })
  return { bytes, asked: await device?.prove(bytes.length > longestAssertedBody ? 'too large' : bytes) }
}

/**
 * Reads a body that the handler may read once more. Of a longer one no byte is lost.
 * @throws HttpError 413 where the route takes no such body, 408, 503
 */
async function readAsserted(call: Call, maxBodyBytes: number): Promise<AssertedBody> {
  const { request } = call
  if (request.body === null) return new Uint8Array()
  const stated = request.headers.get('content-length')
  const most = Math.min(maxBodyBytes, longestAssertedBody)
  if (stated !== null) {
    if (Number(stated) > maxBodyBytes) throw tooLargeError(maxBodyBytes)
    if (Number(stated) > most) return 'too large'
    const { bytes, release } = await holdBody(request, { most })
    release()
    call.request = new Request(request, { body: bytes })
    return bytes
  }
  const [read, kept] = request.body.tee()
  try {
    const { bytes, release } = await holdBody(new Request(request, { body: read }), { most })
    release()
    kept.cancel().catch(() => {})
    call.request = new Request(request, { body: bytes })
    return bytes
  } catch (error) {
    // a body that is longer than an assertion covers goes on to the handler
    if (!(error instanceof HttpError) || error.status !== 413 || most === maxBodyBytes) throw error
    call.request = new Request(request, { body: kept })
    return 'too large'
  }
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
