/** Request bodies of routes, within bounds of size and time (contract 2.11). Nothing in here waits while a transaction is open. */
import { refuse } from '../src/sdk/errors.ts'
import { parseJson } from './bytes.ts'
import type { Call } from './call.ts'
import type { Parameter, Route } from './table.ts'

/** Longest time in milliseconds until the last byte of a body has arrived (contract 2.11). */
const bodyMs = 30_000

/**
 * Bytes that the unfinished bodies of one isolate may hold together. An isolate has 128 MiB on the platform. Beyond this
 * the upload that began first is refused: complete bodies arrive in milliseconds, so the oldest is the one that stalls.
 */
const sharedBytes = 64 * 1_048_576

/** Up to this length a body is read in one piece: that is faster, and what was stated is what can be held. */
const smallBytes = 65_536

/** A body that is arriving. */
interface Upload {
  held: number
  abandon(error: Error): void
}

/** In the order of their beginning. */
const uploads = new Set<Upload>()
let heldBytes = 0

function hold(upload: Upload, bytes: number): void {
  upload.held += bytes
  heldBytes += bytes
  for (const oldest of uploads) {
    if (heldBytes <= sharedBytes) return
    release(oldest)
    oldest.abandon(
      refuse('unavailable', 'the body arrived too slowly while others waited', { headers: { 'retry-after': '1' } }),
    )
  }
}

function release(upload: Upload): void {
  if (uploads.delete(upload)) heldBytes -= upload.held
}

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
  const bytes = await readWhole(call.request, maxBodyBytes)
  if (takesRequest) call.request = new Request(call.request, { body: bytes })
  return bytes
}

/**
 * Reads the whole body.
 * @param most longest body in bytes.
 * @throws HttpError 413 before more than that was kept, 408 when it takes too long, 503 when memory is short.
 */
async function readWhole(request: Request, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const stated = statedLength(request, most)
  if (request.body === null) return new Uint8Array()
  const { promise: abandoned, reject: abandon } = Promise.withResolvers<never>()
  const upload: Upload = { held: 0, abandon }
  uploads.add(upload)
  const timer = setTimeout(() => abandon(refuse('request_timeout')), bodyMs)
  try {
    if (stated !== undefined && stated <= smallBytes) {
      hold(upload, stated)
      return new Uint8Array(await Promise.race([request.arrayBuffer(), abandoned]))
    }
    return await readChunks(request.body.getReader(), most, upload, abandoned)
  } finally {
    clearTimeout(timer)
    release(upload)
  }
}

async function readChunks(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  most: number,
  upload: Upload,
  abandoned: Promise<never>,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), abandoned])
      if (done) break
      hold(upload, value.length)
      if (upload.held > most) throw tooLarge(most)
      chunks.push(value)
    }
  } catch (error) {
    reader.cancel().catch(() => {}) // the rest is not asked for
    throw error
  }
  const body = new Uint8Array(upload.held)
  let at = 0
  for (const chunk of chunks) {
    body.set(chunk, at)
    at += chunk.length
  }
  return body
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

function tooLarge(most: number) {
  return refuse('payload_too_large', `the body may have ${most} bytes`)
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
