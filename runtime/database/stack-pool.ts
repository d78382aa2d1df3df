/**
 * The Durable Object that keeps connections open between requests, which no worker can (contract 5.4): binding
 * `STACK_POOL`. What it lends is a transaction; a request that ends without ending it, however that comes, gives it back.
 */
import { DurableObject, RpcTarget } from 'cloudflare:workers'
import { type Env, textBinding } from '../call.ts'
import type { Flown, Link } from './driver.ts'
import type { Statement } from './flight.ts'
import type { Pool } from './pool.ts'
import { type Failure, failureOf, openMs, poolObjects, Unavailable } from './unavailable.ts'

/** Of each login. */
const connectionsByDefault = 20
const idleMs = 60_000
const oldestMs = 600_000

/** An answer, or why there is none: an error would lose what Postgres says of it on its way. */
export type Told<T> = T | { failure: Failure }

export class StackPool extends DurableObject<Env> {
  #pools = new Map<string, Promise<Pool>>()

  /** @param binding of the database's URL. @param statements those that begin the transaction. */
  async lend(binding: string, statements: readonly Statement[]): Promise<Told<Flown & { loan: Loan; term: Term }>> {
    return told(async () => {
      const pool = await (this.#pools.get(binding) ?? this.#open(binding))
      const { link, ...flown } = await pool.take(statements)
      const held: Held = { link }
      const term = new Term((command) => {
        held.link = undefined
        const given = pool.give(link, command)
        this.ctx.waitUntil(given)
        return given
      })
      return { ...flown, loan: new Loan(held), term }
    })
  }

  #open(binding: string): Promise<Pool> {
    const url = textBinding(this.env, binding)
    if (url === undefined) throw new Unavailable(`the binding ${binding} is not set`)
    const connections = Number(textBinding(this.env, 'STACK_POOL_CONNECTIONS') ?? connectionsByDefault)
    if (!(Number.isInteger(connections) && connections > 0)) {
      throw new Unavailable('STACK_POOL_CONNECTIONS must be a whole number, 1 or more')
    }
    const size = Math.ceil(connections / poolObjects)
    const pool = Promise.all([import('./driver.ts'), import('./pool.ts')]).then(([{ open }, { createPool }]) =>
      createPool({ open: (statements) => open(url, statements), size, waitMs: openMs, idleMs, oldestMs }),
    )
    this.#pools.set(binding, pool)
    return pool
  }
}

/** Without its connection once that was given back. */
interface Held {
  link: Link | undefined
}

class Loan extends RpcTarget {
  #held: Held

  constructor(held: Held) {
    super()
    this.#held = held
  }

  fly(statements: readonly Statement[]): Promise<Told<Flown>> {
    return told(async () => {
      if (!this.#held.link) throw new Unavailable('the transaction has ended')
      return this.#held.link.fly(statements)
    })
  }
}

/** Ends with the request, and not only when the statement has ended that the loan is asked for. */
class Term extends RpcTarget {
  #end: ((command: 'commit' | 'rollback') => Promise<unknown>) | undefined

  constructor(end: (command: 'commit' | 'rollback') => Promise<unknown>) {
    super()
    this.#end = end
  }

  /** Commits and gives back in one message: for what the answer does not wait for. */
  commit(): Promise<Told<object>> {
    return told(async () => {
      const failure = await this.#once('commit')
      if (failure) throw failure
      return {}
    })
  }

  [Symbol.dispose](): void {
    this.#once('rollback')
  }

  #once(command: 'commit' | 'rollback'): Promise<unknown> | undefined {
    const end = this.#end
    this.#end = undefined
    return end?.(command)
  }
}

async function told<T>(work: () => Promise<T>): Promise<Told<T>> {
  try {
    return await work()
  } catch (error) {
    return { failure: failureOf(error) }
  }
}
