/**
 * The request's two transactions: one bound to the caller, one on a second connection that bypasses row-level security
 * (contract 2.4, 5.2). Each is opened by its first use.
 */
import { refuse } from '../../src/sdk/errors.ts'
import type { Queries } from '../../src/sdk/scope.ts'
import type { Call } from '../call.ts'
import type { Identity } from '../identity/identify.ts'
import { errorFields } from '../log.ts'
import type { RouteTable } from '../table.ts'
import { type Bound, bind } from './bind.ts'
import { type BoundTransaction, createBoundTransaction } from './bound-transaction.ts'
import { type Grants, noGrants } from './grants.ts'

export interface RequestDatabase {
  caller: Queries
  service: Queries
  /** @returns `null` when the session of the token was ended; the transaction is then open for nobody. @throws Unavailable */
  readGrants(): Promise<Grants | null>
  /** Ends both, the service first. @throws when either did not commit: the request has then failed. */
  commit(): Promise<void>
  rollback(): Promise<void>
}

/** @param isReadOnly the caller's transaction writes nothing. */
export function createRequestDatabase(
  call: Call,
  roles: RouteTable['databaseRoles'],
  verified: Identity | null,
  isReadOnly = false,
): RequestDatabase {
  let identity = verified
  let hasEndedSession = false
  let isOver = false
  /** Made by their first use: most requests use one of them, or none. */
  let caller: BoundTransaction | undefined
  let service: BoundTransaction | undefined

  /** A handler that works for an ended session is stopped at its first statement (contract 3.5). */
  const admit = ({ context }: Bound) => {
    if (!context?.session_ended) return
    hasEndedSession = true
    throw refuse('unauthorized')
  }
  const create = (binding: string, role: string, isReadOnly: boolean) =>
    createBoundTransaction({
      call,
      admit,
      begin: () => bind(call, { binding, role, isReadOnly }, identity),
      isRequestOver: () => isOver,
    })
  const theCaller = () => (caller ??= create('DATABASE_URL', roles.caller, isReadOnly))
  const theService = () => (service ??= create('DATABASE_SERVICE_URL', roles.service, false))

  /** @throws when a transaction did not commit. */
  async function commitBoth(): Promise<void> {
    let committed = ''
    const both = [['service', service] as const, ['caller', caller] as const]
    // a read-only transaction can only fail: that must be known before anything is kept
    for (const [name, transaction] of isReadOnly ? both.reverse() : both) {
      try {
        const tag = await transaction?.finish('COMMIT')
        if (tag === undefined) continue
        if (tag !== 'COMMIT') {
          throw new Error(
            `the ${name} transaction came back as ${tag}: an SQL error in it was not awaited, or not passed on by the handler`,
            { cause: transaction?.failure() },
          )
        }
        committed = name
      } catch (error) {
        if (!committed) throw error
        const sentence = `the ${committed} transaction is committed, the ${name} transaction is not`
        call.log('error', sentence, errorFields(error))
        // always 500: a client that is told to try again would repeat what was kept
        throw new Error(sentence, { cause: error })
      }
    }
  }

  return {
    caller: { query: (text, parameters) => theCaller().queries.query(text, parameters) },
    service: { query: (text, parameters) => theService().queries.query(text, parameters) },

    async readGrants() {
      const { context } = await theCaller().begin()
      if (!context) return noGrants
      if (!context.session_ended) return context
      identity = null // what the handler now asks of the database, it asks as an anonymous caller
      await caller?.finish('ROLLBACK')
      caller = undefined
      return null
    },

    async commit() {
      await caller?.settle()
      await service?.settle()
      // a handler that swallowed the refusal has still worked for an ended session
      if (hasEndedSession) throw refuse('unauthorized')
      isOver = true
      await commitBoth()
    },

    async rollback() {
      isOver = true
      await Promise.all([service?.finish('ROLLBACK'), caller?.finish('ROLLBACK')])
    },
  }
}
