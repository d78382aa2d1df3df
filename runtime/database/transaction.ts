/**
 * The request's two transactions: one bound to the caller, one on a second connection that bypasses row-level security
 * (contract 2.4, 5.2). Each is opened by its first use.
 */
import { refuse } from '../../src/sdk/errors.ts'
import type { Row, Session } from '../../src/sdk/scope.ts'
import { toHex } from '../bytes.ts'
import { type Call, textBinding } from '../call.ts'
import { hmacKey } from '../hmac.ts'
import type { Identity } from '../identity/identify.ts'
import { errorFields } from '../log.ts'
import type { RouteTable } from '../table.ts'
import type { Connection } from './driver.ts'
import { encodeParameter } from './parameter.ts'
import { normalise, Unavailable } from './unavailable.ts'

/** Longest time of one statement, and of a pause between two, in milliseconds. */
const statementMs = 10_000

/** Longest time that the opening flight may take. */
const bindMs = 5_000

/** What the database says of the caller, on this very request. */
export interface Grants {
  roles: string[]
  permissions: string[]
}

interface Context extends Grants {
  session_ended: boolean
}

export interface RequestDatabase {
  caller: Session
  service: Session
  /** @returns `null` when the session of the token was ended; the transaction is then open for nobody. @throws Unavailable */
  readGrants(): Promise<Grants | null>
  /** Ends both, the service first. @throws when either did not commit: the request has then failed. */
  commit(): Promise<void>
  rollback(): Promise<void>
}

export function createRequestDatabase(
  call: Call,
  roles: RouteTable['databaseRoles'],
  verified: Identity | null,
): RequestDatabase {
  let identity = verified
  let hasEndedSession = false
  const caller = createTransaction('DATABASE_URL', roles.caller)
  const service = createTransaction('DATABASE_SERVICE_URL', roles.service)

  function createTransaction(binding: string, role: string) {
    let opening: Promise<{ connection: Connection; context: Context | undefined }> | undefined
    let isOver = false
    let isLost = false
    /** The first statement that failed: what a COMMIT that comes back as ROLLBACK is about. */
    let failure: Error | undefined

    const begin = () => (opening ??= open(call, binding, role, identity))

    /** Ends the transaction if it was opened. @returns the tag of the command. */
    async function finish(command: 'COMMIT' | 'ROLLBACK'): Promise<string | undefined> {
      isOver = true
      const opened = await opening?.catch(() => undefined)
      opening = undefined
      if (!opened) return undefined
      try {
        if (isLost) throw new Unavailable('the connection was given up') // Postgres rolls back when it closes
        return await within(opened.connection.end(command))
      } catch (error) {
        // whether it took effect is unknown: never a success, and not simply "unavailable" either (contract 2.4)
        throw new Error(`${command} failed`, { cause: error })
      } finally {
        call.waitUntil(opened.connection.close().catch(() => {}))
      }
    }

    return {
      begin,
      finish,
      failure: () => failure,
      async discard() {
        await finish('ROLLBACK').catch(() => {})
        isOver = false
      },
      session: {
        async query<T = Row>(text: string, parameters: readonly unknown[] = []): Promise<T[]> {
          if (isOver) throw new Error('this request has ended, and its transaction with it')
          // checked and encoded before the driver sees them: what it chokes on half-way goes out with the next message
          if (typeof text !== 'string') throw new TypeError('the text of a query must be a string')
          const values = parameters.map(encodeParameter)
          if (transactionCommand.test(text)) {
            throw new Error(
              'the transaction is the request: it commits when the handler returns, rolls back when it throws',
            )
          }
          const called = new Error('called') // the driver's own stack does not lead back to the handler
          const { connection, context } = await begin()
          if (context?.session_ended) {
            hasEndedSession = true
            throw refuse('unauthorized')
          }
          try {
            return (await within(connection.query(text, values))) as T[]
          } catch (error) {
            const normal = normalise(error)
            isLost ||= normal instanceof Unavailable
            failure ??= normal
            throw unstorable.test((normal as { code?: string }).code ?? '')
              ? unstorableValue()
              : locate(normal, called, text)
          }
        },
      },
    }
  }

  return {
    caller: caller.session,
    service: service.session,

    async readGrants() {
      const { context } = await caller.begin()
      if (!context) return { roles: [], permissions: [] }
      if (!context.session_ended) return context
      identity = null // whatever the handler now asks of the database, it asks as nobody
      await caller.discard()
      return null
    },

    async commit() {
      // a handler that swallowed the refusal has still worked for somebody who was signed out
      if (hasEndedSession) throw refuse('unauthorized')
      let done = ''
      for (const [name, transaction] of [['service', service] as const, ['caller', caller] as const]) {
        let tag: string | undefined
        try {
          tag = await transaction.finish('COMMIT')
        } catch (error) {
          if (done) call.log('error', 'the service transaction is committed, the caller’s is not', errorFields(error))
          throw error
        }
        if (tag === undefined) continue
        if (tag !== 'COMMIT') {
          if (done) call.log('error', 'the service transaction is committed, the caller’s is not', { tag })
          throw new Error(
            `the ${name} transaction came back as ${tag}: an SQL error in it was not awaited, or not passed on by the handler`,
            { cause: transaction.failure() },
          )
        }
        done = name
      }
    },

    async rollback() {
      await Promise.allSettled([service.finish('ROLLBACK'), caller.finish('ROLLBACK')])
    },
  }
}

/** Not a wall: SQL that hides one gets no further, for the role is bound to this transaction alone. */
const transactionCommand =
  /^\s*(?:begin|start\s+transaction|commit|end|abort|rollback(?!\s+to)|prepare\s+transaction)\b/i

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

/** BEGIN, the binding and the read of the context in one flight; the read runs as the role that was bound. */
async function open(
  call: Call,
  binding: string,
  role: string,
  identity: Identity | null,
): Promise<{ connection: Connection; context: Context | undefined }> {
  const url = textBinding(call.env, binding)
  if (url === undefined) throw new Unavailable(`the binding ${binding} is not set`)
  const claims = JSON.stringify(identity?.claims ?? {})
  let connection: Connection | undefined
  try {
    const [{ connect }, signature] = await Promise.all([import('./driver.ts'), signClaims(call, claims)])
    connection = await connect(url)
    const flight = connection.fly([
      { text: 'begin isolation level read committed read write', values: [] },
      {
        text: `select set_config('role', $1, true), set_config('search_path', 'public', true),
          set_config('request.jwt.claims', $2, true), set_config('request.jwt.signature', $3, true),
          set_config('statement_timeout', $4, true), set_config('idle_in_transaction_session_timeout', $4, true)`,
        values: [role, claims, signature, String(statementMs)],
      },
      ...(identity ? [{ text: 'select * from auth.request_context()', values: [] }] : []),
    ])
    const results = await within(flight, bindMs)
    return { connection, context: results[2]?.[0] as Context | undefined }
  } catch (error) {
    if (connection) call.waitUntil(connection.close().catch(() => {}))
    // a binding that the database refused is its fault or ours, never an answer about the caller
    throw error instanceof Unavailable
      ? error
      : new Unavailable('the transaction could not be bound', { cause: normalise(error) })
  }
}

/** A server that took the connection and then fell silent must not hold the request. @throws Unavailable */
async function within<T>(answer: Promise<T>, limitMs = statementMs + 2_000): Promise<T> {
  const { promise: silence, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Unavailable(`the database was silent for ${limitMs} ms`)), limitMs)
  try {
    return await Promise.race([answer, silence])
  } finally {
    clearTimeout(timer)
  }
}

/** HMAC-SHA-256 in hex, under the key that the database verifies it with (contract 5.3). */
async function signClaims(call: Call, claims: string): Promise<string> {
  const secret = textBinding(call.env, 'CLAIMS_KEY')
  if (secret === undefined) throw new Unavailable('the binding CLAIMS_KEY is not set')
  const key = await hmacKey('SHA-256', secret)
  return toHex(await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(claims)))
}
