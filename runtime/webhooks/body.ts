/** The bodies that an isolate holds: read within limits of memory and time, and counted until their deliveries have ended (contract 7.8). */
import { refuse } from '../../src/sdk/errors.ts'
import { createLeases, type Lease } from './leases.ts'

/** Bytes of all bodies in flight in one isolate, half of the 128 MiB that a platform gives it. One alone may be longer. */
const mostInFlight = 64 * 1024 * 1024

/** How long a body may take, in milliseconds; the bytes that have arrived buy more. */
const patienceMs = 30_000

/** Slowest upload that is waited for beyond that, in bytes per millisecond: 64 KiB a second. */
const slowestUpload = 64

/** How often a delivery shows that it is alive, in milliseconds. */
const heartbeatMs = 1_000

/** A request without a heartbeat for so long, in milliseconds, was ended by the runtime. */
const lifeMs = 5 * heartbeatMs

/** Up to this length, in bytes, a body is read in one piece, which costs half of what chunks cost. */
const longestPiece = 1024 * 1024

interface HeldBody {
  bytes: Uint8Array<ArrayBuffer>
  /** The delivery has ended. */
  release(): void
}

/** @param most longest body, in bytes. @throws HttpError 413, 408 or 503. */
export type HoldBody = (request: Request, most: number | undefined) => Promise<HeldBody>

export function createBodies(leases = createLeases(mostInFlight, lifeMs, true)): HoldBody {
  return async function hold(request, most) {
    const header = request.headers.get('content-length')
    const stated = header === null ? undefined : Number(header)
    if (stated !== undefined && most !== undefined && stated > most) throw tooLarge(most)
    const lease = leases.take(stated ?? 0)
    if (!lease) throw noRoom()
    const began = Date.now()
    let arrived = 0
    const { promise: late, reject } = Promise.withResolvers<never>()
    late.catch(() => {}) // the body may have come first
    const timer = setInterval(() => {
      lease.renew()
      if (Date.now() > began + patienceMs + arrived / slowestUpload) reject(refuse('request_timeout'))
    }, heartbeatMs)
    const release = () => {
      clearInterval(timer)
      lease.release()
    }
    try {
      const bytes =
        stated !== undefined && stated <= longestPiece
          ? await readPiece(request, late)
          : await readChunks(request, { stated, most, lease, late, count: (length) => (arrived = length) })
      arrived = Number.POSITIVE_INFINITY
      return { bytes, release }
    } catch (error) {
      release()
      throw error
    }
  }
}

async function readPiece(request: Request, late: Promise<never>): Promise<Uint8Array<ArrayBuffer>> {
  const whole = request.arrayBuffer()
  whole.catch(() => {}) // after its time nobody waits for it
  return new Uint8Array(await Promise.race([whole, late]))
}

interface Reading {
  stated: number | undefined
  most: number | undefined
  lease: Lease
  late: Promise<never>
  /** Is told how much has arrived. */
  count(length: number): void
}

async function readChunks(
  request: Request,
  { stated, most, lease, late, count }: Reading,
): Promise<Uint8Array<ArrayBuffer>> {
  if (!request.body) return new Uint8Array()
  const reader = request.body.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for (;;) {
      const { value, done } = await Promise.race([reader.read(), late])
      if (done) break
      length += value.length
      if (most !== undefined && length > most) throw tooLarge(most)
      if (length > (stated ?? 0) && !lease.resize(length)) throw noRoom()
      count(length)
      chunks.push(value)
    }
  } catch (error) {
    reader.cancel().catch(() => {}) // the client may have gone
    throw error
  }
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}

function tooLarge(most: number) {
  return refuse('payload_too_large', `the body may have ${most} bytes`)
}

function noRoom() {
  return refuse('unavailable', 'too many deliveries are in flight: send this one again', {
    headers: { 'retry-after': '1' },
  })
}
