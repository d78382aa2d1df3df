/** The work of a request: inside its scope, and inside its transactions. */
import { scope } from '../src/sdk/scope.ts'
import type { Call } from './call.ts'
import type { RequestDatabase } from './database/transaction.ts'

/** The work's end decides the fate of both transactions (contract 2.4). */
export async function inTransaction(
  call: Call,
  database: RequestDatabase,
  work: () => Promise<Response>,
): Promise<Response> {
  const { requestId, env, log } = call
  const current = { requestId, env, log, caller: database.caller, service: database.service, isOver: false }
  try {
    const response = await scope.run(current, work)
    await database.commit()
    return response
  } catch (error) {
    await database.rollback()
    throw error
  } finally {
    current.isOver = true
  }
}
