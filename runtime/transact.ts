/** Runs the work of a request inside its scope and its transactions. */
import type { scope } from '../src/sdk/scope.ts'
import type { Call } from './call.ts'
import { callerHeader, callerOf } from './caller.ts'
import type { RequestDatabase } from './database/transaction.ts'
import { stackUrl } from './env.ts'
import { errorFields } from './log.ts'
import { newerKey, newestKey } from './rotated-keys.ts'

/** Carries the request to the ambient services. Absent where no code uses one, because every await then costs less. */
export type Scope = typeof scope | undefined

/** Commits both transactions when the work returns, and rolls them back when it throws (contract 2.4). */
export type InTransaction = <T>(call: Call, database: RequestDatabase, work: () => Promise<T>) => Promise<T>

/** Works of one request that may wait for its commit: each holds memory until then. */
const mostAfterCommit = 100

/** @param openDatabase opens the transactions of work that runs after a commit. */
export function createTransactions(scope: Scope, openDatabase: (call: Call) => RequestDatabase): InTransaction {
  const inTransaction: InTransaction = async (call, database, work) => {
    const later: (() => Promise<unknown>)[] = []
    const current = scope && {
      requestId: call.requestId,
      env: call.env,
      log: call.log,
      caller: database.caller,
      service: database.service,
      apart: database.apart,
      afterCommit(work: () => Promise<unknown>) {
        if (later.length >= mostAfterCommit)
          throw new Error(`a request may leave ${mostAfterCommit} works for after its commit`)
        later.push(work)
      },
      manage: manager(call),
      isOver: false,
    }
    try {
      const response = await (scope && current ? scope.run(current, work) : work())
      await database.commit()
      if (later.length > 0) call.waitUntil(runLater(call, later))
      return response
    } catch (error) {
      await database.rollback()
      throw error
    } finally {
      if (current) current.isOver = true
    }
  }

  /** Each work has its own scope and transactions, and one that fails stops no other (contract 2.16). */
  async function runLater(call: Call, works: readonly (() => Promise<unknown>)[]): Promise<void> {
    for (const work of works) {
      await inTransaction(call, openDatabase(call), work).catch((error: unknown) => {
        call.log('error', 'work after the commit failed: the request itself is committed', errorFields(error))
      })
    }
  }

  return inTransaction
}

/** Calls the auth worker. The service-role key is sent only over the `AUTH` binding (contract 2.5). */
function manager(call: Call) {
  const { env } = call
  return async (method: string, path: string, body?: unknown): Promise<Response> => {
    const auth = env['AUTH'] as Fetcher | undefined
    const key = newestKey(env, 'SERVICE_ROLE_KEY')
    if (!auth) throw new Error('the service binding AUTH is not set')
    if (key === undefined) throw new Error('the binding SERVICE_ROLE_KEY is not set')
    // the binding decides which worker answers: the host of the address only appears in that worker's log
    const { origin } = new URL(stackUrl(env) ?? 'https://auth.invalid')
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
    const headers = { ...call.trace?.headers, [callerHeader]: callerOf(call), ...type }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const ask = (apikey: string) =>
      auth.fetch(`${origin}${path}`, { method, headers: { ...headers, apikey }, redirect: 'manual', ...sent })
    const response = await ask(key)
    // a refused key has done nothing: with the newer one the call may be made again
    const newer = response.status === 401 ? await newerKey(call, 'SERVICE_ROLE_KEY', key) : undefined
    if (newer === undefined) return response
    await response.body?.cancel()
    return ask(newer)
  }
}
