/** The steps of a request in their order: webhook or route, identity, gate, rate limit, body, transaction, grants, handler, reply. */
import { httpError } from '../src/sdk/errors.ts'
import { readBody } from './body.ts'
import { createBoot } from './boot.ts'
import { beginCall, type Call, webhookName } from './call.ts'
import { beginInternalCall } from './caller.ts'
import { createContainer, invoke } from './container.ts'
import type { ScheduledHandler } from './cron.ts'
import { withoutDatabase } from './database/absent.ts'
import type { Emitted } from './emitted.ts'
import type { Env } from './env.ts'
import { gateByClaims, gateByGrants } from './gates.ts'
import { identify } from './identity/identify.ts'
import { userOf } from './identity/user.ts'
import { argumentsFor } from './injectors.ts'
import { fail, options, reply } from './reply.ts'
import { allowedMethods, findRoute } from './routes.ts'
import { createValidators } from './schemas.ts'
import type { RouteTable, RpcMethod } from './table.ts'
import { createTransactions } from './transact.ts'

export interface Worker {
  fetch(request: Request, env: Env, context: ExecutionContext): Promise<Response>
  /** Runs a method for another worker that calls it by RPC: within a transaction, like a request. */
  perform(method: RpcMethod, values: readonly unknown[], env: Env, context: ExecutionContext): Promise<unknown>
  /** Runs the methods whose schedule is due. Absent where no method is scheduled. */
  scheduled?: ScheduledHandler
}

export function createWorker(table: RouteTable, emitted: Emitted): Worker {
  const { match, openDatabase = withoutDatabase, scope, webhooks, cors, mirror, management, createScheduled } = emitted
  const openUnbound = (call: Call) => openDatabase(call, table.databaseRoles, null)
  const inTransaction = createTransactions(scope, openUnbound)
  const instance = createContainer(emitted.builders, scope)
  const validators = createValidators(emitted.schemas)
  const boot = createBoot(table, webhooks?.nameSecrets)
  const receive = webhooks?.createReceiver(table.webhooks, {
    instance,
    readers: webhooks.readers,
    store: webhooks.store,
    run(call, isReadOnly, work) {
      const database = openDatabase(call, table.databaseRoles, null, { isReadOnly })
      return inTransaction(call, database, () => work(database))
    },
  })
  management?.followKeys(table.keys!, perform)
  function perform(call: Call, { target, handler }: RpcMethod, values: readonly unknown[] = []): Promise<unknown> {
    return inTransaction(call, openUnbound(call), async () => invoke(instance(target), handler, values))
  }

  async function answer(call: Call): Promise<Response> {
    const name = webhookName(call.path)
    if (name !== undefined && receive) return receive(call, name)
    if (name !== undefined) throw httpError('not_found', `no webhook named ${name}`)
    if (call.request.method === 'OPTIONS') {
      const allow = allowedMethods(match, call.path)
      return options(call, allow, cors?.preflight(call.request, allow))
    }
    const found = findRoute(match, call.request.method, call.path)
    const route = table.routes[found[0]]!
    call.varies = true
    call.isPersonal = route.gate.required || route.readsGrants || call.request.headers.has('authorization')
    const isAdministered = route.gate.serviceRole !== undefined
    const hasKey = isAdministered && (await management!.hasServiceRoleKey(call, table.keys!, perform))
    const identity = hasKey ? null : await identify(call) // a token beside the key does not count
    call.subject = identity?.claims.sub
    if (!hasKey) gateByClaims(route.gate, identity)
    const device = emitted.devices?.beginCheck(call, route, identity, openDatabase, table.databaseRoles)
    if (route.limit) await emitted.limitRate!(call, route.limit, identity)
    const { bytes, asked } = await readBody(call, route, device)
    const database = openDatabase(call, table.databaseRoles, identity, { isPublic: !route.gate.required, asked })
    return inTransaction(call, database, async () => {
      const grants = identity && route.readsGrants ? await database.readGrants(isAdministered) : null
      if (grants) gateByGrants(route.gate, grants)
      else if (route.readsGrants && !hasKey) gateByClaims(route.gate, null) // the caller is anonymous, or the session was ended
      if (isAdministered) management!.requireKnownParameters(call, route.parameters)
      const user = identity && grants && userOf(identity, grants.roles, device?.resultOf(grants) ?? null)
      const args = await argumentsFor(call, route.parameters, found, user, validators, bytes, emitted.texts)
      const result = await invoke(instance(route.controller), route.handler, args)
      return reply(call, result, route.status) // a result that cannot be sent must fail before the commit
    })
  }

  return {
    async fetch(request, env, context) {
      const call = beginCall(request, env, context)
      const mirrored = mirror?.(call)
      if (mirrored) await mirrored
      boot(call)
      const response = await answer(call).catch((error: unknown) => fail(call, error))
      if (webhookName(call.path) === undefined) cors?.apply(call.request, response)
      return request.method === 'HEAD' ? new Response(null, response) : response
    },
    perform: async (method, values, env, context) =>
      perform(beginInternalCall(method.handler, env, context), method, values),
    ...(createScheduled && { scheduled: createScheduled(table.crons!, { mirror, boot, perform }) }),
  }
}
