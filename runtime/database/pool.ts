/**
 * Connections that outlive a request (contract 5.4, 5.7). A lease is one connection for one transaction of one caller. It
 * ends when the transaction ends, or when a time limit passes. Its holder cannot prolong it. Then the session is emptied and
 * the connection serves the next caller.
 */

import type { Statement } from './batch.ts'
import type { BatchResult, Link, StatementResult } from './driver.ts'
import { openMs, Unavailable, within } from './unavailable.ts'

/** Longest time in milliseconds for ending a transaction and emptying its session. A link that takes longer is closed: others wait for its place. */
const renewMs = 1_000

export interface PoolOptions {
  /** Opens a connection and sends these statements as its first batch. */
  open(statements: readonly Statement[]): Promise<BatchResult & { link: Link }>
  /** Largest number of connections that are open at the same time. */
  size: number
  /** Milliseconds that a request waits for a connection. */
  waitMs: number
  /** Milliseconds after which an unused connection is closed. */
  unusedMs: number
  /** Largest age of a connection in milliseconds. A changed address or password takes effect when the connection is replaced. */
  oldestMs: number
  /** Milliseconds that a lease may lie idle between two statements. */
  idleMs: number
  /** Milliseconds that a lease may last in all. */
  transactionMs: number
}

/** One connection, for one transaction of one caller. */
export interface Lease {
  /** @throws Unavailable when the lease has ended; else as `Link.run`. */
  run(statement: Statement): Promise<StatementResult>
  /** @returns the tag of the COMMIT. @throws as `run` does. */
  commit(): Promise<string>
  /**
   * Ends the transaction, unless it has ended, and gives the connection back.
   * @returns why a lease could not be ended as asked; `undefined` when it was.
   */
  end(command: 'commit' | 'rollback'): Promise<unknown>
}

export interface Pool {
  /**
   * @param statements the first batch of the transaction.
   * @param caller names who asks, so that one caller's many requests do not starve another caller's only one.
   * @throws Unavailable when no connection is free in time, or none can be opened; or the error that Postgres raised.
   */
  lend(statements: readonly Statement[], caller: string): Promise<BatchResult & { lease: Lease }>
}

interface Waiter {
  /** Receives a link, or nothing where there is room to open one. */
  serve(link: Link | undefined): void
}

export function createPool(options: PoolOptions): Pool {
  const { open, size, waitMs, unusedMs, oldestMs, idleMs, transactionMs } = options
  /** Unused links. The one that was released last is used next, so that the others age and are closed. */
  const unused: { link: Link; since: number }[] = []
  /** Waiting requests by caller, in the order in which callers are served. */
  const waiting = new Map<string, Waiter[]>()
  /** Number of connections that each caller holds. */
  const held = new Map<string, number>()
  const openedAt = new WeakMap<Link, number>()
  /** The last quarter is lent only to callers that hold no connection (contract 5.7). */
  const reserve = Math.ceil(size / 4)
  /** Connections that are open or being opened. */
  let count = 0
  let isSweeping = false

  const free = () => unused.length + size - count
  const mayHold = (caller: string) => free() > (held.has(caller) ? reserve : 0)

  /** Takes an unused link, or the room for a new one. */
  function take(caller: string): Link | undefined {
    held.set(caller, (held.get(caller) ?? 0) + 1)
    const last = unused.pop()
    if (!last) count++
    return last?.link
  }

  function letGo(caller: string): void {
    const left = held.get(caller)! - 1
    if (left === 0) held.delete(caller)
    else held.set(caller, left)
  }

  /** Serves waiting callers in turn: one request of each, then the next request of the first. */
  function serveWaiting(): void {
    for (const [caller, waiters] of waiting) {
      if (free() === 0) return
      if (!mayHold(caller)) continue
      const { serve } = waiters.shift()!
      waiting.delete(caller)
      if (waiters.length > 0) waiting.set(caller, waiters) // behind every other caller
      serve(take(caller))
    }
  }

  async function acquire(caller: string): Promise<Link | undefined> {
    // a caller with requests that wait already does not overtake them
    if (!waiting.has(caller) && mayHold(caller)) return take(caller)
    const { promise, resolve, reject } = Promise.withResolvers<Link | undefined>()
    const waiter: Waiter = { serve: resolve }
    waiting.set(caller, [...(waiting.get(caller) ?? []), waiter])
    const timer = setTimeout(() => {
      const others = waiting.get(caller)!.filter((other) => other !== waiter)
      if (others.length > 0) waiting.set(caller, others)
      else waiting.delete(caller)
      reject(new Unavailable(`no connection was free for ${waitMs} ms: the pool has ${size}`))
    }, waitMs)
    try {
      return await promise
    } finally {
      clearTimeout(timer)
    }
  }

  /** @param link a sound connection; absent: there is room for a new one. */
  function release(caller: string, link: Link | undefined): void {
    letGo(caller)
    if (link) unused.push({ link, since: Date.now() })
    else count--
    serveWaiting()
    if (unused.length > 0 && !isSweeping) {
      isSweeping = true
      setTimeout(sweep, unusedMs)
    }
  }

  function sweep(): void {
    const now = Date.now()
    while (unused[0] && (unused[0].link.isBroken || unused[0].since + unusedMs <= now)) {
      unused.shift()!.link.close()
      count--
    }
    isSweeping = unused[0] !== undefined
    if (unused[0]) setTimeout(sweep, Math.max(unused[0].since + unusedMs - now, 1))
  }

  async function openNew(statements: readonly Statement[], caller: string): Promise<BatchResult & { link: Link }> {
    try {
      const opened = await open(statements)
      openedAt.set(opened.link, Date.now())
      return opened
    } catch (error) {
      release(caller, undefined)
      throw error
    }
  }

  /** @returns why the connection was closed; `undefined` when it was kept. */
  async function renew(link: Link, caller: string, command: 'commit' | 'rollback'): Promise<unknown> {
    let failure: unknown
    try {
      // a departed client's statement may still be running: it delays the renewal, and others wait for the connection
      await within(link.renew(command), renewMs)
      if (Date.now() < openedAt.get(link)! + oldestMs) {
        release(caller, link)
        return undefined
      }
    } catch (error) {
      failure = error // the state of the session is unknown
    }
    link.close()
    release(caller, undefined)
    return failure
  }

  function leaseOf(link: Link, caller: string): Lease {
    /** Why the lease has ended; `undefined` while it lasts. */
    let over: Unavailable | undefined
    let running = 0
    let idle: ReturnType<typeof setTimeout>

    function end(command: 'commit' | 'rollback', why: string): Promise<unknown> {
      if (over) return Promise.resolve(over)
      over = new Unavailable(why)
      clearTimeout(idle)
      clearTimeout(lasting)
      return renew(link, caller, command)
    }
    const endIdle = () => end('rollback', `the transaction was rolled back: it lay idle for ${idleMs} ms`)
    const lasting = setTimeout(
      () => end('rollback', `the transaction was rolled back: it lasted longer than ${transactionMs} ms`),
      transactionMs,
    )
    idle = setTimeout(endIdle, idleMs)

    async function during<T>(work: () => Promise<T>): Promise<T> {
      if (over) throw over
      running++
      clearTimeout(idle)
      try {
        return await work()
      } catch (error) {
        throw over ?? error // the limit that cut the statement explains more than the cut itself
      } finally {
        running--
        if (running === 0 && !over) idle = setTimeout(endIdle, idleMs)
      }
    }

    return {
      run: (statement) => during(() => link.run(statement)),
      commit: () => during(() => link.commit()),
      end: (command) => end(command, 'the transaction has ended'),
    }
  }

  return {
    async lend(statements, caller) {
      const link = await acquire(caller)
      if (!link) {
        const { link: opened, ...first } = await openNew(statements, caller)
        return { ...first, lease: leaseOf(opened, caller) }
      }
      const began = Date.now()
      try {
        return { ...(await within(link.send(statements), openMs)), lease: leaseOf(link, caller) }
      } catch (error) {
        if (!(error instanceof Unavailable)) {
          renew(link, caller, 'rollback') // Postgres refused the statements: the connection is sound
          throw error
        }
        link.close()
        // the server had closed the unused connection: nothing was done, so it is safe to try on a new one
        if (Date.now() < began + openMs) {
          const { link: opened, ...first } = await openNew(statements, caller)
          return { ...first, lease: leaseOf(opened, caller) }
        }
        release(caller, undefined)
        throw error
      }
    },
  }
}
