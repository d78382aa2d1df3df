/** The request path on one screen: a request meets its row of the table. */
import { scope } from '../src/sdk/scope.ts'
import { createBoot } from './boot.ts'
import { beginCall, type Call, type Env } from './call.ts'
import { type Class, createContainer, invoke } from './container.ts'
import { createRequestDatabase, type RequestDatabase } from './database/transaction.ts'
import { gateByClaims, gateByGrants } from './gates.ts'
import { identify } from './identity/identify.ts'
import { userOf } from './identity/user.ts'
import { argumentsFor } from './injectors.ts'
import { fail, reply } from './reply.ts'
import { createMatcher } from './routes.ts'
import type { RouteTable } from './table.ts'
import { createReceiver, webhookName } from './webhooks/receive.ts'

/** @param classes of the table's container, in its order. */
export function createWorker(table: RouteTable, classes: readonly Class[]): ExportedHandler<Env> {
  const build = createContainer(table.container, classes)
  // outside of the request that happens to be the first: what a constructor keeps, every later request would see
  const instance = (index: number) => scope.run(undefined, () => build(index))
  const find = createMatcher(table.routes)
  const boot = createBoot(table)
  const receive = createReceiver(table.webhooks, (call, { receiver }, method, args) =>
    inTransaction(call, createRequestDatabase(call, table.databaseRoles, null), async () => {
      const result = await invoke(instance(receiver), method, args)
      return reply(call, result instanceof Response ? result : { ok: true, handled: true }, 200)
    }),
  )

  async function answer(call: Call): Promise<Response> {
    const name = webhookName(call.path)
    if (name !== undefined) return receive(call, name)
    const match = find(call.request.method, call.path)
    const { route } = match
    const identity = await identify(call)
    gateByClaims(route.gate, identity)
    const database = createRequestDatabase(call, table.databaseRoles, identity)
    return inTransaction(call, database, async () => {
      const grants = identity && route.readsGrants ? await database.readGrants() : null
      if (grants) gateByGrants(route.gate, grants)
      else if (route.readsGrants) gateByClaims(route.gate, null) // nobody, or somebody whose session was ended
      const user = identity && grants && userOf(identity, grants.roles)
      const args = await argumentsFor(call, match, user)
      const result = await invoke(instance(route.controller), route.handler, args)
      return reply(call, result, route.status) // a result that cannot be sent must fail before it is committed
    })
  }

  return {
    async fetch(request, env, context) {
      const call = beginCall(request as Request, env, context)
      boot(call)
      const response = await answer(call).catch((error: unknown) => fail(call, error))
      return request.method === 'HEAD' ? new Response(null, response) : response
    },
  }
}

/** Runs the work inside the request's scope; its end decides the fate of both transactions (contract 2.4). */
async function inTransaction(call: Call, database: RequestDatabase, work: () => Promise<Response>): Promise<Response> {
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
