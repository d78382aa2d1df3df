/**
 * The request's two transactions: one bound to the caller, one on a second connection that bypasses row-level security
 * (contract 2.4, 5.2). Each is opened by its first use.
 */
import { refuse } from '../../src/sdk/errors.ts'
import type { Row, Session } from '../../src/sdk/scope.ts'
import type { Call } from '../call.ts'
import type { Identity } from '../identity/identify.ts'
import { errorFields } from '../log.ts'
import type { RouteTable } from '../table.ts'
import { type Bound, bind, type Grants } from './bind.ts'
import type { Result, Statement } from './flight.ts'
import { encodeParameter } from './parameter.ts'
import { normalise, Unavailable, within } from './unavailable.ts'

export interface RequestDatabase {
  caller: Session
  service: Session
  /** @returns `null` when the session of the token was ended; the transaction is then open for nobody. @throws Unavailable */
  readGrants(): Promise<Grants | null>
  /** Ends both, the service first. @throws when either did not commit: the request has then failed. */
  commit(): Promise<void>
  rollback(): Promise<void>
}

interface Transaction {
  session: Session
  begin(): Promise<Bound>
  /** Ends the transaction if it was opened. @returns the tag of the command. */
  finish(command: 'COMMIT' | 'ROLLBACK'): Promise<string | undefined>
  /** Has begun, where the handler has left something running. @throws when that could not begin: it was not done. */
  settle(): Promise<void>
  /** The first statement that failed. */
  failure(): Error | undefined
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
  // made by their first use: most requests have none
  let caller: Transaction | undefined
  let service: Transaction | undefined
  const theCaller = () => (caller ??= createTransaction('DATABASE_URL', roles.caller, isReadOnly))
  const theService = () => (service ??= createTransaction('DATABASE_SERVICE_URL', roles.service, false))

  function createTransaction(binding: string, role: string, isReadOnly: boolean): Transaction {
    let opening: Promise<Bound> | undefined
    let isLost = false
    /** The handler has run a statement: what bound the transaction leaves nothing to keep. */
    let hasAsked = false
    /** Or may have, where a statement failed. */
    let hasWritten = false
    /** Its id, once it has one: another one is another transaction's. */
    let assignedId: string | null = null
    let pending = 0
    /** The first statement that failed: what a COMMIT that comes back as ROLLBACK is about. */
    let failure: Error | undefined

    const begin = () => (opening ??= bind(call, { binding, role, isReadOnly }, identity))

    /** @returns the tag of the command. */
    async function commit({ connection }: Bound): Promise<string> {
      try {
        if (isLost) throw new Unavailable('the connection was given up') // Postgres rolls back when it closes
        const { results } = await within(connection.fly([{ text: 'COMMIT', values: [], reads: 'tag' }]))
        return results[0]!.tag
      } catch (error) {
        // whether it took effect is unknown: never a success, and not simply "unavailable" either (contract 2.4)
        throw new Error('COMMIT failed', { cause: error })
      } finally {
        call.waitUntil(connection.close())
      }
    }

    const failedLater = (error: unknown) => call.log('warn', 'a commit after the answer failed', errorFields(error))

    async function finish(command: 'COMMIT' | 'ROLLBACK'): Promise<string | undefined> {
      const opened = await opening?.catch(() => undefined)
      opening = undefined
      if (!opened) return undefined
      if (command === 'COMMIT' && (hasWritten || pending > 0)) return commit(opened)
      // what has no transaction id may still have an effect: a function that notifies, or writes to a foreign table
      const isKept = command === 'COMMIT' && hasAsked
      call.waitUntil(opened.connection.close(isKept).catch(failedLater))
      return command
    }

    async function run(text: string, values: Statement['values'], called: Error): Promise<Row[]> {
      const { connection, rowsOf, context } = await begin()
      if (context?.session_ended) {
        hasEndedSession = true
        throw refuse('unauthorized')
      }
      hasAsked = true
      try {
        const flown = await within(connection.fly([{ text, values }, assigned]))
        const [result, id] = flown.results as [Result, Result]
        const currentId = id.rows[0]?.[0] ?? null
        // what `and chain` has begun is bound to nobody
        isLost ||= !flown.isInTransaction || result.tag === 'COMMIT' || (assignedId ?? currentId) !== currentId
        assignedId = currentId
        hasWritten ||= isLost || currentId !== null || !reads.test(result.tag) || /notify/i.test(text)
        if (!isLost) return rowsOf(result)
      } catch (error) {
        hasWritten = true
        const normal = normalise(error)
        // of what was too large to be told, nobody knows what it did
        isLost ||= normal instanceof Unavailable || (normal as { code?: string }).code === '54000'
        failure ??= normal
        throw unstorable.test((normal as { code?: string }).code ?? '')
          ? unstorableValue()
          : locate(normal, called, text)
      }
      throw locate(new Error(onlyTheRequest), called, text)
    }

    return {
      begin,
      finish,
      failure: () => failure,
      async settle() {
        if (pending > 0) await opening
      },
      session: {
        async query<T = Row>(text: string, parameters: readonly unknown[] = []): Promise<T[]> {
          if (isOver) throw new Error('this request has ended, and its transaction with it')
          // checked and encoded before the driver sees them: what it chokes on half-way goes out with the next message
          if (typeof text !== 'string') throw new TypeError('the text of a query must be a string')
          const values = parameters.map(encodeParameter)
          if (transactionCommand.test(text)) throw new Error(onlyTheRequest)
          const called = new Error('called') // the driver's own stack does not lead back to the handler
          pending++
          try {
            return (await run(text, values, called)) as T[]
          } finally {
            pending--
          }
        },
      },
    }
  }

  return {
    caller: { query: (text, parameters) => theCaller().session.query(text, parameters) },
    service: { query: (text, parameters) => theService().session.query(text, parameters) },

    async readGrants() {
      const { context } = await theCaller().begin()
      if (!context) return { roles: [], permissions: [] }
      if (!context.session_ended) return context
      identity = null // whatever the handler now asks of the database, it asks as nobody
      await theCaller().finish('ROLLBACK')
      return null
    },

    async commit() {
      await caller?.settle()
      await service?.settle()
      // a handler that swallowed the refusal has still worked for somebody who was signed out
      if (hasEndedSession) throw refuse('unauthorized')
      isOver = true
      if (!caller && !service) return
      let done = ''
      const both = [['service', service] as const, ['caller', caller] as const]
      // one that only read can only fail: that must be known before anything is kept
      for (const [name, transaction] of isReadOnly ? both.reverse() : both) {
        let tag: string | undefined
        try {
          tag = await transaction?.finish('COMMIT')
        } catch (error) {
          if (done) call.log('error', 'the service transaction is committed, the caller’s is not', errorFields(error))
          throw error
        }
        if (tag === undefined) continue
        if (tag !== 'COMMIT') {
          if (done) call.log('error', 'the service transaction is committed, the caller’s is not', { tag })
          throw new Error(
            `the ${name} transaction came back as ${tag}: an SQL error in it was not awaited, or not passed on by the handler`,
            { cause: transaction?.failure() },
          )
        }
        done = name
      }
    },

    async rollback() {
      isOver = true
      await Promise.all([service?.finish('ROLLBACK'), caller?.finish('ROLLBACK')])
    },
  }
}

const onlyTheRequest = 'the transaction is the request: it commits when the handler returns, rolls back when it throws'

/** In the flight of each statement: a transaction that got no id has written nothing (contract 2.4). */
const assigned: Statement = { text: 'select pg_catalog.txid_current_if_assigned()', values: [], reads: 'rows' }

/** Tags of commands that write nothing, unless a function does that they call: a write to a foreign table has no id here. */
const reads = /^(?:SELECT|SHOW|SET|FETCH|EXPLAIN)\b|^$/

/** Not a wall: SQL that hides one gets no further, for the role is bound to this transaction alone. Comments hide none. */
const transactionCommand =
  /^(?:[\s;]|--[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)*(?:begin|start\s+transaction|commit|end|abort|rollback(?!\s+(?:(?:work|transaction)\s+)?to\b)|prepare\s+transaction)\b/i

/** A character that text or JSON of Postgres cannot hold: the request's fault, not the handler's. */
const unstorable = /^(?:22021|22P05)$/

function unstorableValue(): Error {
  const reason = 'a value holds a character that cannot be stored'
  return refuse('invalid_request', reason, { fields: [{ path: 'body', reason }] })
}

/** The error with the stack of the call that failed, and its statement; never its values. */
function locate(error: Error, called: Error, statement: string): Error {
  const frames = called.stack?.slice(called.stack.indexOf('\n')) ?? ''
  error.stack = `${error.name}: ${error.message}${frames}`
  return Object.assign(error, { statement })
}
