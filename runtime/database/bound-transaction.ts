/** One transaction of a request: opened by its first statement, and ended with the request (contract 2.4, 5.7). */
import { httpError } from '../../src/sdk/errors.ts'
import type { Queries, Row } from '../../src/sdk/scope.ts'
import type { Call } from '../call.ts'
import type { Identity } from '../identity/identify.ts'
import { errorFields } from '../log.ts'
import type { AskedDevice } from './asked-device.ts'
import type { Statement } from './batch.ts'
import { type Bound, bind, type Login } from './bind.ts'
import { encodeParameter } from './parameter.ts'
import { type RequestPhase, stateAfter, type TransactionState } from './transaction-state.ts'
import { CommitFailed, normalise, SqlError, Unavailable } from './unavailable.ts'

export class BoundTransaction implements Queries {
  #call: Call
  #login: Login
  #identity: Identity | null
  #request: RequestPhase
  #asked: AskedDevice | undefined
  #state: TransactionState = 'unopened'
  #bound: Promise<Bound> | undefined
  /** Statements that were asked for and are not answered yet. */
  #unanswered = 0
  #failure: Error | undefined

  /** @param asked the device of the request, which is read with the grants. */
  constructor(call: Call, login: Login, identity: Identity | null, request: RequestPhase, asked?: AskedDevice) {
    this.#call = call
    this.#login = login
    this.#identity = identity
    this.#request = request
    this.#asked = asked
  }

  /** The first statement that failed: the cause of a COMMIT that comes back as ROLLBACK. */
  get failure(): Error | undefined {
    return this.#failure
  }

  /** Opens the transaction once. @throws Unavailable */
  begin(): Promise<Bound> {
    if (this.#bound) return this.#bound
    this.#state = stateAfter(this.#state, 'begin')
    this.#bound = this.#bind()
    return this.#bound
  }

  async #bind(): Promise<Bound> {
    const bound = await bind(this.#call, this.#login, this.#identity, this.#asked)
    if (bound.context?.isClaimed) this.#move('write') // the nonce must be kept before the answer is sent
    if (!bound.context?.session_ended || !this.#request.isPublic) return bound
    this.#call.waitUntil(bound.connection.close())
    return { ...(await bind(this.#call, this.#login, null)), isWithoutUser: true }
  }

  async query<T = Row>(text: string, parameters: readonly unknown[] = []): Promise<T[]> {
    if (this.#request.phase === 'over') throw new Error('this request has ended, and its transaction with it')
    // checked and encoded here: the driver would send half of a message that it fails to encode
    if (typeof text !== 'string') throw new TypeError('the text of a query must be a string')
    const values = parameters.map(encodeParameter)
    if (transactionCommand.test(text)) throw new Error(onlyTheRequest)
    const called = new Error('called') // the driver's own stack does not lead back to the handler
    this.#unanswered++
    try {
      return (await this.#run({ text, values }, called)) as T[]
    } finally {
      this.#unanswered--
    }
  }

  /** Waits until a statement that the handler left running has begun its transaction. @throws when BEGIN failed. */
  async settle(): Promise<void> {
    if (this.#unanswered > 0) await this.#bound
  }

  /**
   * Ends the transaction.
   * @returns the tag of the command; `undefined` where there was nothing to end.
   * @throws CommitFailed
   */
  async finish(command: 'COMMIT' | 'ROLLBACK'): Promise<string | undefined> {
    const bound = await this.#bound?.catch(() => undefined)
    const state = this.#unanswered > 0 ? stateAfter(this.#state, 'write') : this.#state
    this.#state = stateAfter(this.#state, 'end')
    if (!bound || state === 'ended') return undefined
    if (command === 'COMMIT' && (state === 'written' || state === 'lost')) return this.#commit(bound, state)
    // without a transaction id there may still be an effect: NOTIFY, or a write to a foreign table
    const isKept = command === 'COMMIT' && state === 'read'
    this.#call.waitUntil(bound.connection.close(isKept).catch((error) => this.#logLateFailure(error)))
    return command
  }

  async #run(statement: Statement, called: Error): Promise<Row[]> {
    const bound = await this.begin()
    if (bound.context?.session_ended) {
      if (this.#request.phase === 'running') this.#request.phase = 'denied'
      throw httpError('unauthorized')
    }
    if (this.#state === 'lost') throw locate(new Error(onlyTheRequest), called, statement.text)
    this.#move('send')
    try {
      const { result, transactionId, hasEnded } = await bound.connection.run(statement)
      if (hasEnded) this.#move('lose')
      else if (transactionId !== null || !reads.test(result.tag) || /notify/i.test(statement.text)) this.#move('write')
      if (!hasEnded) return bound.rowsOf(result)
    } catch (error) {
      const normal = normalise(error)
      const code = normal instanceof SqlError ? normal.code : undefined
      this.#move(
        normal instanceof Unavailable || code === answerTooLarge || code === transactionOver ? 'lose' : 'write',
      )
      if (code !== transactionOver) {
        this.#failure ??= normal
        throw locate(normal, called, statement.text)
      }
    }
    throw locate(new Error(onlyTheRequest), called, statement.text)
  }

  async #commit({ connection }: Bound, state: 'written' | 'lost'): Promise<string> {
    try {
      // Postgres rolls back the transaction of a closed connection
      if (state === 'lost') throw new Unavailable('the transaction was lost before its COMMIT')
      return await connection.commit()
    } catch (error) {
      // the outcome is unknown: neither a success nor a plain "unavailable" (contract 2.4)
      throw new CommitFailed('COMMIT failed', { cause: Object.assign(normalise(error), { statement: 'COMMIT' }) })
    } finally {
      this.#call.waitUntil(connection.close())
    }
  }

  #move(step: 'send' | 'write' | 'lose'): void {
    this.#state = stateAfter(this.#state, step)
  }

  #logLateFailure(error: unknown): void {
    this.#call.log('warn', 'a commit after the answer failed', errorFields(error))
  }
}

const onlyTheRequest = 'the transaction is the request: it commits when the handler returns, rolls back when it throws'

/** no_active_sql_transaction: the connection rejected the statement, because an earlier one had ended the transaction. */
const transactionOver = '25P01'

/** program_limit_exceeded: the rows did not fit into one message, so the effect of the statement is unknown. */
const answerTooLarge = '54000'

/**
 * Tags of commands that do not write by themselves. A function that such a statement calls may write: then the transaction
 * has an id, except for a foreign table.
 */
const reads = /^(?:SELECT|SHOW|SET|FETCH|EXPLAIN)\b|^$/

/**
 * Finds BEGIN, COMMIT and the like at the start of a text, also behind comments. It only catches mistakes: a command that it
 * does not find is stopped by the connection.
 */
const transactionCommand =
  /^(?:[\s;]|--[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)*(?:begin|start\s+transaction|commit|end|abort|rollback(?!\s+(?:(?:work|transaction)\s+)?to\b)|prepare\s+transaction)\b/i

/** Gives the error the stack of the call that failed, and the text of its statement without values. */
function locate(error: Error, called: Error, statement: string): Error {
  const frames = called.stack?.slice(called.stack.indexOf('\n')) ?? ''
  error.stack = `${error.name}: ${error.message}${frames}`
  return Object.assign(error, { statement })
}
