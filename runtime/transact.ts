/** The work of a request: inside its scope, and inside its transactions. */
import type { scope } from '../src/sdk/scope.ts'
import { type Call, stackUrl, textBinding } from './call.ts'
import { callerHeader, callerOf } from './caller.ts'
import type { RequestDatabase } from './database/transaction.ts'

/** What carries the request to whoever asks for it; absent where the build found nobody who could: it is not free. */
export type Scope = typeof scope | undefined

/** The work's end decides the fate of both transactions (contract 2.4). */
export async function inTransaction<T>(
  scope: Scope,
  call: Call,
  database: RequestDatabase,
  work: () => Promise<T>,
): Promise<T> {
  const current = scope && {
    requestId: call.requestId,
    env: call.env,
    log: call.log,
    caller: database.caller,
    service: database.service,
    manage: manager(call),
    isOver: false,
  }
  try {
    const response = await (scope && current ? scope.run(current, work) : work())
    await database.commit()
    return response
  } catch (error) {
    await database.rollback()
    throw error
  } finally {
    if (current) current.isOver = true
  }
}

/** Calls of the auth worker. The service-role key is sent only over the `AUTH` binding, never to a network (contract 2.5). */
function manager(call: Call) {
  const { env } = call
  return async (method: 'GET' | 'PUT' | 'DELETE', path: string): Promise<Response> => {
    const auth = env['AUTH'] as Fetcher | undefined
    const key = textBinding(env, 'SERVICE_ROLE_KEY')
    if (!auth) throw new Error('the service binding AUTH is not set')
    if (key === undefined) throw new Error('the binding SERVICE_ROLE_KEY is not set')
    // the binding decides who answers; the host in the address is for the auth worker's own log
    const { origin } = new URL(stackUrl(env) ?? 'https://auth.invalid')
    const headers = { ...call.trace?.headers, [callerHeader]: callerOf(call), apikey: key }
    return auth.fetch(`${origin}/v1/management/auth${path}`, { method, headers, redirect: 'manual' })
  }
}
