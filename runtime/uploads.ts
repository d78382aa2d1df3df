/**
 * Request bodies that an isolate holds: read within limits of memory and time, of routes and webhooks alike (contract 2.11,
 * 7.8). A body counts until it is released. One that stalls gives way where others lack memory.
 */
import { refuse } from '../src/sdk/errors.ts'
import { createLeases, type Lease } from './leases.ts'

/** Bytes of all bodies in flight in one isolate, half of the 128 MiB that a platform gives it. One alone may be longer. */
const mostInFlight = 64 * 1024 * 1024

/** Longest time in milliseconds until the last byte of a body has arrived (contract 2.11). */
const patienceMs = 30_000

/** Slowest upload that does not stall, in bytes per millisecond: 64 KiB a second. A long body that is faster may take longer than `patienceMs`. */
const slowestUpload = 64

/** How often a delivery shows that it is alive, in milliseconds. */
const heartbeatMs = 1_000

/** An upload that was slower than the slowest for so many heartbeats gives way where others lack memory: it stalls. */
const stalledBeats = 2

/** A request without a heartbeat for so long, in milliseconds, was ended by the runtime. */
const lifeMs = 5 * heartbeatMs

/**
 * Up to this length, in bytes, a body is read in one piece, which costs half of what chunks cost. It counts once it is
 * there: until then it is no larger than what a connection costs anyway.
 */
const longestPiece = 64 * 1024

interface HeldBody {
  bytes: Uint8Array<ArrayBuffer>
  /** The delivery has ended. */
  release(): void
}

/** A body that is arriving. */
interface Upload {
  lease: Lease
  /** Bytes so far; unknown of a body that is read in one piece. */
  arrived: number
  /** Time of the last heartbeat, in Unix milliseconds. */
  aliveAt: number
  /** Heartbeats since it was last fast enough. */
  slowBeats: number
  giveUp(error: Error): void
}

interface Bounds {
  /** Longest body in bytes; absent: any. */
  most?: number | undefined
  /** What has arrived buys more time: deliveries have no longest body. */
  isPatient?: boolean
}

/** @throws HttpError 413, 408 or 503. */
type HoldBody = (request: Request, bounds: Bounds) => Promise<HeldBody>

/** Called once for each isolate: its routes and webhooks share the memory. */
export function createUploads(leases = createLeases(mostInFlight, lifeMs, true)): HoldBody {
  /** In the order of their beginning. */
  const uploads = new Set<Upload>()

  /** The runtime ends the request of a client that has gone without another line of it, `finally` included. */
  function forgetDead(): void {
    for (const upload of uploads) if (upload.aliveAt + lifeMs < Date.now()) uploads.delete(upload)
  }

  /**
   * Gives up the oldest upload that stalls, else the largest: what has not arrived whole must not hold what others need. A
   * body that has arrived is not given up.
   */
  function displaceFor(asking: Pick<Upload, 'arrived'>): boolean {
    const others = [...uploads].filter((upload) => upload !== asking)
    const largest = others.reduce<Upload | undefined>(
      (most, upload) => (upload.arrived > (most?.arrived ?? 0) ? upload : most),
      undefined,
    )
    const victim = others.find(({ slowBeats }) => slowBeats >= stalledBeats) ?? largest
    if (!victim || (victim.slowBeats < stalledBeats && victim.arrived < asking.arrived)) return false
    uploads.delete(victim)
    victim.lease.release()
    victim.giveUp(noRoom())
    return true
  }

  return async function hold(request, { most, isPatient = false }) {
    forgetDead()
    const header = request.headers.get('content-length')
    const stated = header === null ? undefined : Number(header)
    if (stated !== undefined && most !== undefined && stated > most) throw tooLarge(most)
    const isPiece = stated !== undefined && stated <= longestPiece
    let lease = leases.take(0)
    while (!lease) {
      if (!displaceFor({ arrived: 0 })) throw noRoom() // one body that has arrived exceeds the limit
      lease = leases.take(0)
    }
    const own = lease
    const { promise: late, reject: giveUp } = Promise.withResolvers<never>()
    late.catch(() => {}) // the body may have come first
    const began = Date.now()
    const upload: Upload = { lease: own, arrived: 0, aliveAt: began, slowBeats: 0, giveUp }
    uploads.add(upload)
    let before = 0
    const timer = setInterval(() => {
      own.renew()
      if (!uploads.has(upload)) return // it has arrived
      upload.aliveAt = Date.now()
      upload.slowBeats = upload.arrived - before < slowestUpload * heartbeatMs ? upload.slowBeats + 1 : 0
      before = upload.arrived
      const bought = isPatient ? upload.arrived / slowestUpload : 0
      if (Date.now() >= began + patienceMs + bought) giveUp(refuse('request_timeout'))
    }, heartbeatMs)
    const release = () => {
      clearInterval(timer)
      uploads.delete(upload)
      own.release()
    }
    const count = (length: number) => {
      upload.arrived = length
      if (most !== undefined && length > most) throw tooLarge(most)
      while (!own.resize(length)) if (!displaceFor(upload)) throw noRoom()
    }
    try {
      const bytes = isPiece ? await readPiece(request, late) : await readChunks(request, late, count)
      if (isPiece) count(bytes.length)
      uploads.delete(upload)
      return { bytes, release }
    } catch (error) {
      release()
      throw error
    }
  }
}

async function readPiece(request: Request, late: Promise<never>): Promise<Uint8Array<ArrayBuffer>> {
  const whole = request.arrayBuffer()
  whole.catch(() => {}) // once the time is over, nothing awaits it
  return new Uint8Array(await Promise.race([whole, late]))
}

/** @param count is told how much has arrived. @throws what it throws. */
async function readChunks(
  request: Request,
  late: Promise<never>,
  count: (length: number) => void,
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

export function tooLarge(most: number) {
  return refuse('payload_too_large', `the body may have ${most} bytes`)
}

function noRoom() {
  return refuse('unavailable', 'too many bodies are in flight: send this request again', {
    headers: { 'retry-after': '1' },
  })
}
