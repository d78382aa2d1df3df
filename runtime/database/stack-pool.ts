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
      return { ...flown, loan: new Loan(link), term: new Term(() => this.ctx.waitUntil(pool.give(link))) }
    })
  }

  #open(binding: string): Promise<Pool> {
    const url = textBinding(this.env, binding)
    if (url === undefined) throw new Unavailable(`the binding ${binding} is not set`)
    const size = Math.ceil(
      Number(textBinding(this.env, 'STACK_POOL_CONNECTIONS') ?? connectionsByDefault) / poolObjects,
    )
    const pool = Promise.all([import('./driver.ts'), import('./pool.ts')]).then(([{ open }, { createPool }]) =>
      createPool({ open: (statements) => open(url, statements), size, waitMs: openMs, idleMs, oldestMs }),
    )
    this.#pools.set(binding, pool)
    return pool
  }
}

class Loan extends RpcTarget {
  #link: Link

  constructor(link: Link) {
    super()
    this.#link = link
  }

  fly(statements: readonly Statement[]): Promise<Told<Flown>> {
    return told(() => this.#link.fly(statements))
  }
}

/** Ends with the request, and not only when the statement has ended that the loan is asked for. */
class Term extends RpcTarget {
  #giveBack: () => void

  constructor(giveBack: () => void) {
    super()
    this.#giveBack = giveBack
  }

  [Symbol.dispose](): void {
    this.#giveBack()
    this.#giveBack = () => {}
  }
}

async function told<T>(work: () => Promise<T>): Promise<Told<T>> {
  try {
    return await work()
  } catch (error) {
    return { failure: failureOf(error) }
  }
}
