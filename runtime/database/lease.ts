/** One connection of the pool, lent for one transaction of one caller. Its holder cannot prolong it (contract 5.7). */
import type { Statement } from './batch.ts'
import type { Link, StatementResult } from './driver.ts'
import { Unavailable } from './unavailable.ts'

export interface LeaseLimits {
  /** Milliseconds that a lease may lie idle between two statements. */
  idleMs: number
  /** Milliseconds that a lease may last in all. */
  transactionMs: number
}

export interface Lease {
  /** @throws Unavailable when the lease has ended; else as `Link.run`. */
  run(statement: Statement): Promise<StatementResult>
  /** @returns the tag of the COMMIT. @throws as `run` does. */
  commit(): Promise<string>
  /**
   * Ends the transaction, unless it has ended, and releases the connection.
   * @returns why the transaction could not be ended as asked; `undefined` when it was.
   */
  end(command: 'commit' | 'rollback'): Promise<unknown>
}

/** @param release ends the transaction and releases the connection. It is called once. @returns why that failed. */
export function createLease(
  link: Link,
  { idleMs, transactionMs }: LeaseLimits,
  release: (command: 'commit' | 'rollback') => Promise<unknown>,
): Lease {
  /** Why the lease has ended. Undefined while it lasts. */
  let over: Unavailable | undefined
  let running = 0
  let idle: ReturnType<typeof setTimeout>

  function end(command: 'commit' | 'rollback', why: string): Promise<unknown> {
    if (over) return Promise.resolve(over)
    over = new Unavailable(why)
    clearTimeout(idle)
    clearTimeout(lasting)
    return release(command)
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
      throw over ?? error // a limit that ended the lease is the cause of the statement's error
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
