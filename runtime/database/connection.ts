/** A connection for one transaction: lent by the pool where the worker has one, else opened for it (contract 5.4). */
import { poolName, poolObjects } from '../../src/wire/pool.ts'
import type { Call } from '../call.ts'
import { callerOf } from '../caller.ts'
import { type Env, textBinding } from '../env.ts'
import type { Statement } from './batch.ts'
import type { BatchResult, StatementResult } from './driver.ts'
import { repairLogins } from './repair.ts'
import type { RpcResult } from './stack-pool.ts'
import { errorOf, isLoginRefused, openMs, Unavailable, within } from './unavailable.ts'

export interface Connection {
  /** One round trip. @throws Unavailable, or the error that Postgres raised. */
  run(statement: Statement): Promise<StatementResult>
  /** @returns the tag of the COMMIT. @throws as `run` does. */
  commit(): Promise<string>
  /** @param isKept the open transaction is committed; else it is rolled back. @throws when a commit may have failed. */
  close(isKept?: boolean): Promise<void>
}

/** `StackPool` as another isolate sees it. Disposing its answer ends the loan. */
interface Pool {
  lend(
    binding: string,
    statements: readonly Statement[],
    caller: string,
  ): Promise<RpcResult<BatchResult & { loan: Loan; end: TransactionEnd } & Disposable>>
}

interface Loan {
  run(statement: Statement): Promise<RpcResult<StatementResult>>
  commit(): Promise<RpcResult<{ tag: string }>>
}

interface TransactionEnd {
  commit(): Promise<RpcResult<object>>
}

interface PoolNamespace {
  idFromName(name: string): object
  get(id: object): Pool
}

/** @param binding of the database's URL. @param statements the first batch. @throws as `Connection.run` does. */
export async function connect(
  call: Call,
  binding: string,
  statements: readonly Statement[],
): Promise<BatchResult & { connection: Connection }> {
  const pool = call.env['STACK_POOL'] as PoolNamespace | string | undefined // a text turns the pool off
  const begin = () =>
    typeof pool === 'object' ? borrow(pool, call, binding, statements) : open(call.env, binding, statements)
  try {
    return await begin()
  } catch (error) {
    if (!isLoginRefused(error) || !(await repairLogins(call))) throw error
    return begin()
  }
}

/** @returns whether requests of this worker borrow their connections from the pool. */
export function isPooled(env: Env): boolean {
  return typeof env['STACK_POOL'] === 'object'
}

let driver: typeof import('./driver.ts') | undefined

/** Kept after the first import: importing a loaded module again takes several microtasks. */
export async function loadDriver(): Promise<NonNullable<typeof driver>> {
  driver ??= await import('./driver.ts')
  return driver
}

async function open(env: Env, binding: string, statements: readonly Statement[]) {
  const url = textBinding(env, binding)
  if (url === undefined) throw new Unavailable(`the binding ${binding} is not set`)
  const { link, ...first } = await (await loadDriver()).open(url, statements)
  const commit = () => within(link.commit())
  const connection: Connection = {
    run: (statement) => within(link.run(statement)),
    commit,
    async close(isKept) {
      try {
        if (isKept) await commit()
      } finally {
        await link.close()
      }
    },
  }
  return { ...first, connection }
}

/** Longest wait in milliseconds for the pool to answer: half a second more than the pool's own limit, whose error says more. */
const lendMs = openMs + 500

async function borrow(pool: PoolNamespace, call: Call, binding: string, statements: readonly Statement[]) {
  const object = pool.get(pool.idFromName(poolName(Math.floor(Math.random() * poolObjects))))
  const lent = await unwrap(within(object.lend(binding, statements, callerOf(call)), lendMs))
  const { results, loan, end } = lent
  const connection: Connection = {
    run: (statement) => within(unwrap(loan.run(statement))),
    commit: async () => (await within(unwrap(loan.commit()))).tag,
    async close(isKept) {
      try {
        if (isKept) await unwrap(end.commit())
      } finally {
        lent[Symbol.dispose]()
      }
    },
  }
  return { results, connection }
}

/** @throws the error that the pool answered, or Unavailable when the pool did not answer. */
async function unwrap<T extends object>(answer: Promise<RpcResult<T>>): Promise<T> {
  const result = await answer.catch((cause: unknown) => {
    if (cause instanceof Unavailable) throw cause
    if (/limited to 32MiB/.test((cause as Error).message)) {
      throw Object.assign(new Error('a statement with its values, or its rows, exceeds 32 MiB'), { code: '54000' })
    }
    throw new Unavailable('the pool of connections does not answer', { cause })
  })
  if ('failure' in result) throw errorOf(result.failure)
  return result
}
