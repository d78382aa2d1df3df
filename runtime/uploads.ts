/**
 * Reads the request bodies of routes and webhooks within limits of memory and time (contract 2.11, 7.8). A body counts until
 * it is released. When memory is short, an upload that stalls is given up.
 */
import { httpError } from '../src/sdk/errors.ts'
import { readChunks } from './bytes.ts'
import { createShares, type Share } from './shares.ts'

/** Largest number of bytes of all bodies in flight: half of an isolate's 128 MiB. A body that is alone may be longer. */
const inFlightBytes = 64 * 1024 * 1024

/** Longest time in milliseconds until the last byte of a body has arrived (contract 2.11). */
const arrivalMs = 30_000

/** Slowest upload that does not stall, in bytes per millisecond: 64 KiB a second (contract 7.8). */
const slowestBytesPerMs = 64

/** Milliseconds between two checks of an upload, which also show that its request is alive: contract 7.8 counts in seconds. */
const heartbeatMs = 1_000

/** Number of consecutive slow heartbeats after which an upload stalls (contract 7.8). */
const stalledBeats = 2

/** Milliseconds without a heartbeat after which a request counts as ended by the Workers runtime: five beats, because a busy isolate delays them. */
const lifeMs = 5 * heartbeatMs

/**
 * A body whose `content-length` is at most this many bytes is read in one piece, which costs half as much as reading chunks. It
 * counts towards the isolate's limit once it has arrived.
 */
const pieceBytes = 64 * 1024

interface HeldBody {
  bytes: Uint8Array<ArrayBuffer>
  /** Takes the body off the isolate's limit. A route calls it once the body is read, a webhook after its answer or its record. */
  release(): void
}

/** A body that has not arrived whole. */
interface Upload {
  share: Share
  /** Number of bytes that have arrived. It is 0 for a body that is read in one piece. */
  arrived: number
  /** Time of the last heartbeat, in Unix milliseconds. */
  aliveAt: number
  /** Number of heartbeats since the upload was last fast enough. */
  slowBeats: number
  giveUp(error: Error): void
}

interface Bounds {
  /** Longest body in bytes. Absent: there is no limit. */
  most?: number | undefined
  /** Every 64 KiB that have arrived extend the time by a second. Webhooks set it, because a delivery may have any length. */
  isPatient?: boolean
}

/** @throws HttpError 413, 408 or 503. */
type HoldBody = (request: Request, bounds: Bounds) => Promise<HeldBody>

/** Called once for each isolate: its routes and webhooks share the memory. */
export function createUploads(shares = createShares(inFlightBytes, lifeMs, true)): HoldBody {
  /** The oldest upload stands first. */
  const uploads = new Set<Upload>()

  /** The Workers runtime ends the request of a departed client without running its `finally` blocks. */
  function forgetDead(): void {
    for (const upload of uploads) if (upload.aliveAt + lifeMs < Date.now()) uploads.delete(upload)
  }

  /**
   * Gives up the oldest upload that stalls, else the largest, if it is not smaller than the asking one. A body that has
   * arrived is never given up.
   * @returns whether an upload was given up.
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
    victim.share.release()
    victim.giveUp(noRoomError())
    return true
  }

  return async function hold(request, { most, isPatient = false }) {
    forgetDead()
    const header = request.headers.get('content-length')
    const stated = header === null ? undefined : Number(header)
    if (stated !== undefined && most !== undefined && stated > most) throw tooLargeError(most)
    const isPiece = stated !== undefined && stated <= pieceBytes
    let share = shares.acquire(0)
    while (!share) {
      if (!displaceFor({ arrived: 0 })) throw noRoomError() // a body that has arrived exceeds the limit
      share = shares.acquire(0)
    }
    const own = share
    const { promise: late, reject: giveUp } = Promise.withResolvers<never>()
    late.catch(() => {}) // the body may have arrived before
    const began = Date.now()
    const upload: Upload = { share: own, arrived: 0, aliveAt: began, slowBeats: 0, giveUp }
    uploads.add(upload)
    let before = 0
    const timer = setInterval(() => {
      own.renew()
      if (!uploads.has(upload)) return // the body has arrived
      upload.aliveAt = Date.now()
      upload.slowBeats = upload.arrived - before < slowestBytesPerMs * heartbeatMs ? upload.slowBeats + 1 : 0
      before = upload.arrived
      const extensionMs = isPatient ? upload.arrived / slowestBytesPerMs : 0
      if (Date.now() >= began + arrivalMs + extensionMs) giveUp(httpError('request_timeout'))
    }, heartbeatMs)
    const release = () => {
      clearInterval(timer)
      uploads.delete(upload)
      own.release()
    }
    const requireLength = (length: number) => {
      upload.arrived = length
      if (most !== undefined && length > most) throw tooLargeError(most)
      while (!own.resize(length)) if (!displaceFor(upload)) throw noRoomError()
    }
    try {
      const bytes = isPiece ? await readPiece(request, late) : await readChunks(request.body, requireLength, late)
      if (isPiece) requireLength(bytes.length)
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
  whole.catch(() => {}) // it is not awaited once `late` has rejected
  return new Uint8Array(await Promise.race([whole, late]))
}

export function tooLargeError(most: number) {
  return httpError('payload_too_large', `the body may have ${most} bytes`)
}

function noRoomError() {
  return httpError('unavailable', 'too many bodies are in flight: send this request again', {
    headers: { 'retry-after': '1' },
  })
}
