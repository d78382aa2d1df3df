/** One transaction of a request: opened by its first statement, and ended with the request (contract 2.4, 5.7). */
import type { Queries, Row } from '../../src/sdk/scope.ts'
import type { Call } from '../call.ts'
import { errorFields } from '../log.ts'
import type { Statement } from './batch.ts'
import type { Bound } from './bind.ts'
import { encodeParameter } from './parameter.ts'
import { CommitFailed, normalise, SqlError, Unavailable } from './unavailable.ts'

export interface BoundTransaction {
  queries: Queries
  /** Opens the transaction, once. @throws Unavailable */
  begin(): Promise<Bound>
  /** Waits until a statement that the handler left running has begun its transaction. @throws when it could not begin. */
  settle(): Promise<void>
  /** Ends the transaction if it was opened. @returns the tag of the command. */
  finish(command: 'COMMIT' | 'ROLLBACK'): Promise<string | undefined>
  /** The first statement that failed: the cause of a COMMIT that comes back as ROLLBACK. */
  failure(): Error | undefined
}

interface Options {
  call: Call
  begin(): Promise<Bound>
  /** Asked with each statement, once the transaction is open. @throws when the caller may not run it. */
  admit(bound: Bound): void
  /** The handler has returned: what it left running runs nothing more. */
  isRequestOver(): boolean
}

/**
 * What is known of the effects of a transaction, in this order: a later state never goes back.
 * - `untouched`: no statement of the handler ran.
 * - `read`: only statements that write nothing ran, and all succeeded.
 * - `written`: a statement wrote, or may have.
 * - `lost`: a statement ended the transaction, or the connection is gone. Nothing more may run.
 */
type Effects = 'untouched' | 'read' | 'written' | 'lost'

const order: readonly Effects[] = ['untouched', 'read', 'written', 'lost']

export function createBoundTransaction({ call, begin, admit, isRequestOver }: Options): BoundTransaction {
  let opening: Promise<Bound> | undefined
  let effects: Effects = 'untouched'
  let pending = 0
  let failure: Error | undefined

  const reach = (next: Effects) => {
    if (order.indexOf(next) > order.indexOf(effects)) effects = next
  }

  async function run(statement: Statement, called: Error): Promise<Row[]> {
    opening ??= begin()
    const bound = await opening
    admit(bound)
    if (effects === 'lost') throw locate(new Error(onlyTheRequest), called, statement.text)
    reach('read')
    try {
      const { result, transactionId, hasEnded } = await bound.connection.run(statement)
      if (hasEnded) reach('lost')
      else if (transactionId !== null || !reads.test(result.tag) || /notify/i.test(statement.text)) reach('written')
      if (!hasEnded) return bound.rowsOf(result)
    } catch (error) {
      const normal = normalise(error)
      const code = normal instanceof SqlError ? normal.code : undefined
      // 54000: the answer was too large to read, so what the statement did is not known
      reach(normal instanceof Unavailable || code === '54000' || code === transactionOver ? 'lost' : 'written')
      if (code !== transactionOver) {
        failure ??= normal
        throw locate(normal, called, statement.text)
      }
    }
    throw locate(new Error(onlyTheRequest), called, statement.text)
  }

  async function commit({ connection }: Bound): Promise<string> {
    try {
      // Postgres rolls back what a closed connection leaves open
      if (effects === 'lost') throw new Unavailable('the transaction was lost before its COMMIT')
      return await connection.commit()
    } catch (error) {
      // whether it took effect is unknown: never a success, and not simply "unavailable" either (contract 2.4)
      throw new CommitFailed('COMMIT failed', { cause: Object.assign(normalise(error), { statement: 'COMMIT' }) })
    } finally {
      call.waitUntil(connection.close())
    }
  }

  const failedLater = (error: unknown) => call.log('warn', 'a commit after the answer failed', errorFields(error))

  return {
    begin: () => (opening ??= begin()),
    failure: () => failure,
    async settle() {
      if (pending > 0) await opening
    },
    async finish(command) {
      const bound = await opening?.catch(() => undefined)
      opening = undefined
      if (!bound) return undefined
      const mayHaveWritten = effects === 'written' || effects === 'lost' || pending > 0
      if (command === 'COMMIT' && mayHaveWritten) return commit(bound)
      // a transaction without an id may still have an effect: a function that notifies, or writes to a foreign table
      const isKept = command === 'COMMIT' && effects === 'read'
      call.waitUntil(bound.connection.close(isKept).catch(failedLater))
      return command
    },
    queries: {
      async query<T = Row>(text: string, parameters: readonly unknown[] = []): Promise<T[]> {
        if (isRequestOver()) throw new Error('this request has ended, and its transaction with it')
        // checked and encoded before the driver sees them: what it chokes on half-way goes out with the next message
        if (typeof text !== 'string') throw new TypeError('the text of a query must be a string')
        const values = parameters.map(encodeParameter)
        if (transactionCommand.test(text)) throw new Error(onlyTheRequest)
        const called = new Error('called') // the driver's own stack does not lead back to the handler
        pending++
        try {
          return (await run({ text, values }, called)) as T[]
        } finally {
          pending--
        }
      },
    },
  }
}

const onlyTheRequest = 'the transaction is the request: it commits when the handler returns, rolls back when it throws'

/** no_active_sql_transaction: the connection refused the statement, because an earlier one had ended the transaction. */
const transactionOver = '25P01'

/** Tags of commands that write nothing, unless a function does that they call: a write to a foreign table has no id here. */
const reads = /^(?:SELECT|SHOW|SET|FETCH|EXPLAIN)\b|^$/

/** Catches honest mistakes. SQL that hides a command from this pattern is stopped by the connection instead. Comments hide none. */
const transactionCommand =
  /^(?:[\s;]|--[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)*(?:begin|start\s+transaction|commit|end|abort|rollback(?!\s+(?:(?:work|transaction)\s+)?to\b)|prepare\s+transaction)\b/i

/** The error with the stack of the call that failed, and its statement; never its values. */
function locate(error: Error, called: Error, statement: string): Error {
  const frames = called.stack?.slice(called.stack.indexOf('\n')) ?? ''
  error.stack = `${error.name}: ${error.message}${frames}`
  return Object.assign(error, { statement })
}
