/** A connection for one transaction: lent by the pool where there is one, else its own (contract 5.4). */
import { type Call, type Env, textBinding } from '../call.ts'
import type { Flown } from './driver.ts'
import type { Statement } from './flight.ts'
import type { Told } from './stack-pool.ts'
import { errorOf, openMs, poolObjects, Unavailable, within } from './unavailable.ts'

export interface Connection {
  /** One round trip. @throws Unavailable, or the error that Postgres raised. */
  fly(statements: readonly Statement[]): Promise<Flown>
  /** @param isKept what is open is committed; else it is rolled back. @throws when that cannot be told. */
  close(isKept?: boolean): Promise<void>
}

/** `StackPool` as it is seen from another isolate. What is disposed of ends there. */
interface Pool {
  lend(
    binding: string,
    statements: readonly Statement[],
  ): Promise<Told<Flown & { loan: Loan; term: Term } & Disposable>>
}

interface Loan {
  fly(statements: readonly Statement[]): Promise<Told<Flown>>
}

interface Term {
  commit(): Promise<Told<object>>
}

interface PoolNamespace {
  idFromName(name: string): object
  get(id: object): Pool
}

/** @param binding of the database's URL. @param statements the first flight. @throws as `fly` does. */
export function connect(
  call: Call,
  binding: string,
  statements: readonly Statement[],
): Promise<Flown & { connection: Connection }> {
  const pool = call.env['STACK_POOL'] as PoolNamespace | string | undefined // a text of that name says: none
  return typeof pool === 'object' ? borrow(pool, binding, statements) : open(call.env, binding, statements)
}

let driver: typeof import('./driver.ts') | undefined

/** Imported once: asking for a module that is loaded is not free. */
export async function loadDriver(): Promise<NonNullable<typeof driver>> {
  driver ??= await import('./driver.ts')
  return driver
}

async function open(env: Env, binding: string, statements: readonly Statement[]) {
  const url = textBinding(env, binding)
  if (url === undefined) throw new Unavailable(`the binding ${binding} is not set`)
  const { link, ...flown } = await (await loadDriver()).open(url, statements)
  const connection: Connection = {
    fly: link.fly,
    async close(isKept) {
      try {
        if (isKept) await within(link.fly([{ text: 'COMMIT', values: [], reads: 'tag' }]))
      } finally {
        await link.close()
      }
    },
  }
  return { ...flown, connection }
}

async function borrow(pool: PoolNamespace, binding: string, statements: readonly Statement[]) {
  const object = pool.get(pool.idFromName(`pool-${Math.floor(Math.random() * poolObjects)}`))
  // the pool's own limits come first
  const lent = await heard(() => within(object.lend(binding, statements), openMs + 500))
  const { results, isInTransaction, loan, term } = lent
  const connection: Connection = {
    fly: (list) => heard(() => loan.fly(list)),
    async close(isKept) {
      try {
        if (isKept) await heard(() => term.commit())
      } finally {
        lent[Symbol.dispose]()
      }
    },
  }
  return { results, isInTransaction, connection }
}

/** @throws what the pool was told, or that it was not heard. */
async function heard<T extends object>(ask: () => Promise<Told<T>>): Promise<T> {
  const told = await ask().catch((cause: unknown) => {
    if (cause instanceof Unavailable) throw cause
    if (/limited to 32MiB/.test((cause as Error).message)) {
      throw Object.assign(new Error('a statement with its values, or its rows, may have 32 MiB'), { code: '54000' })
    }
    throw new Unavailable('the pool of connections does not answer', { cause })
  })
  if ('failure' in told) throw errorOf(told.failure)
  return told
}
