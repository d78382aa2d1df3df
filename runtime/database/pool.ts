/**
 * Connections that outlive a request (contract 5.4, 5.7). A lease is one connection for one transaction of one caller. When
 * it ends, the session is emptied and the connection serves the next caller.
 */
import type { PoolCounts } from '../../src/wire/pool.ts'
import type { Statement } from './batch.ts'
import type { BatchResult, Link } from './driver.ts'
import { createLease, type Lease, type LeaseLimits } from './lease.ts'
import { ConnectionQueue, type QueueLimits } from './queue.ts'
import { openMs, Unavailable, within } from './unavailable.ts'

/**
 * Longest time in milliseconds for ending a transaction and emptying its session. A link that takes longer is closed,
 * because other requests wait for its place (contract 5.4).
 */
const renewMs = 1_000

export interface PoolOptions extends QueueLimits, LeaseLimits {
  /** Opens a connection and sends these statements as its first batch. */
  open(statements: readonly Statement[]): Promise<BatchResult & { link: Link }>
  /** Largest age of a connection in milliseconds. A changed address or password takes effect when the connection is replaced. */
  oldestMs: number
}

export interface Pool {
  /**
   * @param statements the first batch of the transaction.
   * @param caller names the user or network for whom the connection is lent: connections are shared out by caller.
   * @throws Unavailable when no connection is free in time, or none can be opened; or the error that Postgres raised.
   */
  lend(statements: readonly Statement[], caller: string): Promise<BatchResult & { lease: Lease }>
  counts(): PoolCounts
}

export function createPool(options: PoolOptions): Pool {
  const { open, oldestMs } = options
  const queue = new ConnectionQueue(options)
  const openedAt = new WeakMap<Link, number>()

  const leaseOf = (link: Link, caller: string) => createLease(link, options, (command) => renew(link, caller, command))

  async function lendNew(statements: readonly Statement[], caller: string): Promise<BatchResult & { lease: Lease }> {
    try {
      const { link, ...first } = await open(statements)
      openedAt.set(link, Date.now())
      return { ...first, lease: leaseOf(link, caller) }
    } catch (error) {
      queue.release(caller, undefined)
      throw error
    }
  }

  /** @returns why the connection was closed; `undefined` when it was kept. */
  async function renew(link: Link, caller: string, command: 'commit' | 'rollback'): Promise<unknown> {
    let failure: unknown
    try {
      // a departed client's statement may still be running: it delays the renewal, and other requests wait
      await within(link.renew(command), renewMs)
      if (Date.now() < openedAt.get(link)! + oldestMs) {
        queue.release(caller, link)
        return undefined
      }
    } catch (error) {
      failure = error // the state of the session is unknown
    }
    link.close()
    queue.release(caller, undefined)
    return failure
  }

  return {
    counts: () => queue.counts,
    async lend(statements, caller) {
      const link = await queue.acquire(caller)
      if (!link) return lendNew(statements, caller)
      const began = Date.now()
      try {
        return { ...(await within(link.send(statements), openMs)), lease: leaseOf(link, caller) }
      } catch (error) {
        if (!(error instanceof Unavailable)) {
          renew(link, caller, 'rollback') // Postgres refused the statements: the connection is sound
          throw error
        }
        link.close()
        // the server had closed the unused connection: nothing was executed, so a new connection may repeat the statements
        if (Date.now() < began + openMs) return lendNew(statements, caller)
        queue.release(caller, undefined)
        throw error
      }
    },
  }
}
