/**
 * The Durable Object that keeps connections open between requests, which a worker cannot (contract 5.4): binding
 * `STACK_POOL`. It lends a connection for one transaction. The loan ends with the transaction, with the request, or when a
 * time limit of contract 5.7 passes.
 */
import { DurableObject, RpcTarget } from 'cloudflare:workers'
import { type PoolCounts, poolObjects } from '../../src/wire/pool.ts'
import { type Env, textBinding } from '../env.ts'
import type { Statement } from './batch.ts'
import type { BatchResult, StatementResult } from './driver.ts'
import type { Lease } from './lease.ts'
import { limitsOf } from './limits.ts'
import type { Pool } from './pool.ts'
import { type Failure, failureOf, openMs, Unavailable } from './unavailable.ts'

/** Number of connections of each login. Postgres admits 100 by default, and three logins share them. */
const connectionsByDefault = 20
/** Milliseconds until an unused connection is closed: a database can scale to zero only without connections. */
const unusedMs = 60_000
/** Largest age of a connection in milliseconds: a changed address or password takes effect within ten minutes. */
const oldestMs = 600_000

/** An answer, or the failure as data: an error that crosses an RPC loses the fields that Postgres gave it. */
export type RpcResult<T> = T | { failure: Failure }

export class StackPool extends DurableObject<Env> {
  #pools = new Map<string, Promise<Pool>>()

  /** @param binding of the database's URL. @param statements the batch that begins the transaction. @param caller as in `Pool.lend`. */
  async lend(
    binding: string,
    statements: readonly Statement[],
    caller: string,
  ): Promise<RpcResult<BatchResult & { loan: Loan; end: TransactionEnd }>> {
    return settled(async () => {
      const pool = await (this.#pools.get(binding) ?? this.#open(binding))
      const { lease, ...first } = await pool.lend(statements, caller)
      const end = new TransactionEnd((command) => {
        const ended = lease.end(command)
        this.ctx.waitUntil(ended)
        return ended
      })
      return { ...first, loan: new Loan(lease), end }
    })
  }

  /** @returns the counts by the binding of the database's URL, for the metrics of `stack serve`. */
  async counts(): Promise<Record<string, PoolCounts>> {
    const counted = [...this.#pools].map(async ([binding, pool]) => [binding, (await pool).counts()] as const)
    return Object.fromEntries(await Promise.all(counted))
  }

  #open(binding: string): Promise<Pool> {
    const url = textBinding(this.env, binding)
    if (url === undefined) throw new Unavailable(`the binding ${binding} is not set`)
    const connections = Number(textBinding(this.env, 'STACK_POOL_CONNECTIONS') ?? connectionsByDefault)
    if (!(Number.isInteger(connections) && connections > 0)) {
      throw new Unavailable('STACK_POOL_CONNECTIONS must be a whole number, 1 or more')
    }
    const { idleMs, transactionMs } = limitsOf(this.env)
    const size = Math.ceil(connections / poolObjects)
    const limits = { size, waitMs: openMs, unusedMs, oldestMs, idleMs, transactionMs }
    const pool = Promise.all([import('./driver.ts'), import('./pool.ts')]).then(([{ open }, { createPool }]) =>
      createPool({ open: (statements) => open(url, statements), ...limits }),
    )
    this.#pools.set(binding, pool)
    return pool
  }
}

/** Runs statements inside the transaction of a lease. */
class Loan extends RpcTarget {
  #lease: Lease

  constructor(lease: Lease) {
    super()
    this.#lease = lease
  }

  run(statement: Statement): Promise<RpcResult<StatementResult>> {
    return settled(() => this.#lease.run(statement))
  }

  commit(): Promise<RpcResult<{ tag: string }>> {
    return settled(async () => ({ tag: await this.#lease.commit() }))
  }
}

/**
 * Ends the transaction. It is an RPC target of its own because a running call keeps its target alive. Disposing this stub
 * therefore ends the lease also while a statement runs.
 */
class TransactionEnd extends RpcTarget {
  #end: (command: 'commit' | 'rollback') => Promise<unknown>

  constructor(end: (command: 'commit' | 'rollback') => Promise<unknown>) {
    super()
    this.#end = end
  }

  /** Commits and releases the connection in one message, for a transaction whose outcome the answer does not wait for. */
  commit(): Promise<RpcResult<object>> {
    return settled(async () => {
      const failure = await this.#end('commit')
      if (failure) throw failure
      return {}
    })
  }

  [Symbol.dispose](): void {
    this.#end('rollback')
  }
}

async function settled<T>(work: () => Promise<T>): Promise<RpcResult<T>> {
  try {
    return await work()
  } catch (error) {
    return { failure: failureOf(error) }
  }
}
