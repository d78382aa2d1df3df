/**
 * Decides which request gets a connection of the pool next (contract 5.7). Waiting callers are served in turn, one request
 * each, so that a caller with many requests does not starve a caller with one.
 */
import type { PoolCounts } from '../../src/wire/pool.ts'
import type { Link } from './driver.ts'
import { Unavailable } from './unavailable.ts'

export interface QueueLimits {
  /** Largest number of connections that are open at the same time. */
  size: number
  /** Milliseconds that a request waits for a connection. */
  waitMs: number
  /** Milliseconds after which an unused connection is closed. */
  unusedMs: number
}

/** Resolves a waiting request with a link, or with `undefined` where there is room to open one. */
type Waiter = (link: Link | undefined) => void

export class ConnectionQueue {
  readonly #limits: QueueLimits
  /** Number of connections that are lent only to callers that hold none: a quarter of the pool (contract 5.7). */
  readonly #reserve: number
  /** Unused links. The one that was released last is used next, so that the others age and are closed. */
  readonly #unused: { link: Link; since: number }[] = []
  /** Waiting requests by caller, in the order in which callers are served. */
  readonly #waiting = new Map<string, Waiter[]>()
  /** Number of connections that each caller holds. */
  readonly #held = new Map<string, number>()
  /** Number of connections that are open or being opened. */
  #count = 0
  #isSweeping = false

  constructor(limits: QueueLimits) {
    this.#limits = limits
    this.#reserve = Math.ceil(limits.size / 4)
  }

  /**
   * @returns an unused link, or `undefined`: the request may then open a connection.
   * @throws Unavailable when no connection is free in time.
   */
  async acquire(caller: string): Promise<Link | undefined> {
    // a new request does not overtake the caller's requests that already wait
    if (!this.#waiting.has(caller) && this.#mayHold(caller)) return this.#assign(caller)
    const { size, waitMs } = this.#limits
    const { promise, resolve, reject } = Promise.withResolvers<Link | undefined>()
    const waiters = this.#waiting.get(caller)
    if (waiters) waiters.push(resolve)
    else this.#waiting.set(caller, [resolve])
    const timer = setTimeout(() => {
      this.#forget(caller, resolve)
      reject(new Unavailable(`no connection was free for ${waitMs} ms: the pool has ${size}`))
    }, waitMs)
    try {
      return await promise
    } finally {
      clearTimeout(timer)
    }
  }

  /** @param link a sound connection; `undefined`: the connection was closed, or could not be opened. */
  release(caller: string, link: Link | undefined): void {
    const left = this.#held.get(caller)! - 1
    if (left === 0) this.#held.delete(caller)
    else this.#held.set(caller, left)
    if (link) this.#unused.push({ link, since: Date.now() })
    else this.#count--
    this.#serveWaiting()
    if (this.#unused.length > 0 && !this.#isSweeping) {
      this.#isSweeping = true
      setTimeout(() => this.#sweep(), this.#limits.unusedMs)
    }
  }

  get counts(): PoolCounts {
    const waiting = [...this.#waiting.values()].reduce((sum, waiters) => sum + waiters.length, 0)
    return { size: this.#limits.size, open: this.#count, unused: this.#unused.length, waiting }
  }

  get #free(): number {
    return this.#unused.length + this.#limits.size - this.#count
  }

  #mayHold(caller: string): boolean {
    return this.#free > (this.#held.has(caller) ? this.#reserve : 0)
  }

  /** Gives the caller an unused link, or the room for a new one. */
  #assign(caller: string): Link | undefined {
    this.#held.set(caller, (this.#held.get(caller) ?? 0) + 1)
    const last = this.#unused.pop()
    if (!last) this.#count++
    return last?.link
  }

  #serveWaiting(): void {
    for (const [caller, waiters] of this.#waiting) {
      if (this.#free === 0) return
      if (!this.#mayHold(caller)) continue
      const serve = waiters.shift()!
      this.#waiting.delete(caller)
      if (waiters.length > 0) this.#waiting.set(caller, waiters) // behind every other caller
      serve(this.#assign(caller))
    }
  }

  #forget(caller: string, waiter: Waiter): void {
    const others = this.#waiting.get(caller)!.filter((other) => other !== waiter)
    if (others.length > 0) this.#waiting.set(caller, others)
    else this.#waiting.delete(caller)
  }

  /** Closes links that were unused for too long. The oldest stands first. */
  #sweep(): void {
    const now = Date.now()
    const { unusedMs } = this.#limits
    for (let first = this.#unused[0]; first; first = this.#unused[0]) {
      if (!first.link.isBroken && first.since + unusedMs > now) break
      this.#unused.shift()
      first.link.close()
      this.#count--
    }
    const [next] = this.#unused
    this.#isSweeping = next !== undefined
    if (next) setTimeout(() => this.#sweep(), Math.max(next.since + unusedMs - now, 1))
  }
}
