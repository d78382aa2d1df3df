/**
 * The Durable Object that keeps connections open between requests, which no worker can (contract 5.4): binding
 * `STACK_POOL`. It lends a connection for one transaction, and takes it back when the transaction ends, when its request
 * ends in any other way, or when a limit of contract 5.7 passes.
 */
import { DurableObject, RpcTarget } from 'cloudflare:workers'
import { type Env, textBinding } from '../call.ts'
import type { Statement } from './batch.ts'
import type { BatchResult, StatementResult } from './driver.ts'
import { limitsOf } from './limits.ts'
import type { Lease, Pool } from './pool.ts'
import { type Failure, failureOf, openMs, poolObjects, Unavailable } from './unavailable.ts'

/** Connections of each login. Postgres admits 100 by default, and three logins share them. */
const connectionsByDefault = 20
/** Milliseconds until an unused connection is closed: a database that scales to zero must see them go. */
const unusedMs = 60_000
/** Largest age of a connection in milliseconds: a changed address or password is followed within ten minutes. */
const oldestMs = 600_000

/** An answer, or why there is none. An error that crosses an RPC loses the fields that Postgres gave it. */
export type RpcResult<T> = T | { failure: Failure }

export class StackPool extends DurableObject<Env> {
  #pools = new Map<string, Promise<Pool>>()

  /** @param binding of the database's URL. @param statements begin the transaction. @param caller as `Pool.lend` has it. */
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

/** Runs statements of the transaction that was lent. */
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
 * Ends the transaction. A target of its own: disposing the stub ends the lease also while a statement runs, because no
 * running call holds this target.
 */
class TransactionEnd extends RpcTarget {
  #end: (command: 'commit' | 'rollback') => Promise<unknown>

  constructor(end: (command: 'commit' | 'rollback') => Promise<unknown>) {
    super()
    this.#end = end
  }

  /** Commits and gives the connection back in one message, for transactions whose outcome the answer does not wait for. */
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
