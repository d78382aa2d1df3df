/**
 * The request's two transactions: one bound to the caller, one on a second connection that bypasses row-level security
 * (contract 2.4, 5.2). Each is opened by its first use.
 */
import { httpError } from '../../src/sdk/errors.ts'
import type { Queries } from '../../src/sdk/scope.ts'
import type { Call } from '../call.ts'
import type { Identity } from '../identity/identify.ts'
import { errorFields } from '../log.ts'
import type { RouteTable } from '../table.ts'
import type { AskedDevice, FoundDevice } from './asked-device.ts'
import { BoundTransaction } from './bound-transaction.ts'
import { type Grants, noGrants } from './grants.ts'
import type { RequestPhase } from './transaction-state.ts'

export interface RequestDatabase {
  caller: Queries
  service: Queries
  /** One service transaction more, committed as soon as `work` resolves and rolled back where it rejects (contract 2.15). */
  apart<T>(work: (queries: Queries) => Promise<T>): Promise<T>
  /**
   * @returns `null` when the session of the token was ended. The transaction is rolled back then, and what the handler asks
   * of the database runs as an anonymous caller.
   * @param isAlone ends the caller's transaction with this reading: a route that administers may wait for another server, and holds no
   * connection meanwhile. The next use of the transaction opens another one.
   * @throws Unavailable
   */
  readGrants(isAlone: boolean): Promise<(Grants & FoundDevice) | null>
  /** Ends both transactions: the service's first, but a read-only one of the caller before it. @throws when either did not commit: the request has then failed. */
  commit(): Promise<void>
  rollback(): Promise<void>
}

export interface RequestDatabaseOptions {
  /** The caller's transaction is opened READ ONLY. */
  isReadOnly?: boolean
  /**
   * The route requires no user: where the session of the token was ended, the handler's SQL runs as an anonymous caller's. Elsewhere its
   * first statement is refused with 401 (contract 3.5).
   */
  isPublic?: boolean
  /** The device is read with the grants. */
  asked?: AskedDevice | undefined
}

export function createRequestDatabase(
  call: Call,
  roles: RouteTable['databaseRoles'],
  verified: Identity | null,
  { isReadOnly = false, isPublic = false, asked }: RequestDatabaseOptions = {},
): RequestDatabase {
  const request: RequestPhase = { phase: 'running', isPublic }
  let identity = verified
  // made by their first use: most requests use one of them, or none
  let caller: BoundTransaction | undefined
  let service: BoundTransaction | undefined

  const create = (binding: string, role: string, isReadOnly: boolean, asked?: AskedDevice) =>
    new BoundTransaction(call, { binding, role, isReadOnly }, identity, request, asked)
  const theCaller = () => (caller ??= create('DATABASE_URL', roles.caller, isReadOnly, asked))
  const theService = () => (service ??= create('DATABASE_SERVICE_URL', roles.service, false))

  return {
    caller: { query: (text, parameters) => theCaller().query(text, parameters) },
    service: { query: (text, parameters) => theService().query(text, parameters) },

    async apart(work) {
      if (request.phase === 'over') throw new Error('this request has ended: it opens no transaction')
      const own: RequestPhase = { phase: 'running', isPublic }
      const login = { binding: 'DATABASE_SERVICE_URL', role: roles.service, isReadOnly: false }
      const apart = new BoundTransaction(call, login, identity, own)
      try {
        const result = await work(apart)
        await apart.settle()
        if (own.phase === 'denied') throw httpError('unauthorized')
        own.phase = 'over'
        await commitInOrder(call, { apart })
        return result
      } catch (error) {
        own.phase = 'over'
        await apart.finish('ROLLBACK')
        throw error
      }
    },

    async readGrants(isAlone) {
      const { context, isWithoutUser } = await theCaller().begin()
      if (isWithoutUser) {
        identity = null
        return null
      }
      if (context && !context.session_ended && !isAlone) return context
      if (!context) return noGrants
      await caller?.finish('ROLLBACK')
      caller = undefined
      if (!context.session_ended) return context
      identity = null
      return null
    },

    async commit() {
      await caller?.settle()
      await service?.settle()
      if (request.phase === 'denied') throw httpError('unauthorized')
      request.phase = 'over'
      // a read-only transaction can only fail: that must be known before the other one is kept
      if (isReadOnly) await commitInOrder(call, { caller, service })
      else await commitInOrder(call, { service, caller })
    },

    async rollback() {
      request.phase = 'over'
      await Promise.all([service?.finish('ROLLBACK'), caller?.finish('ROLLBACK')])
    },
  }
}

/** Commits one transaction after the other. @throws at the first that did not commit. */
async function commitInOrder(call: Call, transactions: Record<string, BoundTransaction | undefined>): Promise<void> {
  let committed = ''
  for (const [name, transaction] of Object.entries(transactions)) {
    try {
      const tag = await transaction?.finish('COMMIT')
      if (tag === undefined) continue
      if (tag !== 'COMMIT') {
        throw new Error(
          `the ${name} transaction came back as ${tag}: an SQL error in it was not awaited, or not passed on by the handler`,
          { cause: transaction?.failure },
        )
      }
      committed = name
    } catch (error) {
      if (!committed) throw error
      const sentence = `the ${committed} transaction is committed, the ${name} transaction is not`
      call.log('error', sentence, errorFields(error))
      // always 500: a client that retries would repeat the work that was kept
      throw new Error(sentence, { cause: error })
    }
  }
}
