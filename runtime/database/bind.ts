/** How a transaction begins: on a connection of its own, bound to a role and to signed claims (contract 5.2, 5.3). */
import { toHex } from '../bytes.ts'
import { type Call, textBinding } from '../call.ts'
import { hmacKey } from '../hmac.ts'
import type { Identity } from '../identity/identify.ts'
import type { Connection } from './driver.ts'
import { normalise, statementMs, Unavailable, within } from './unavailable.ts'

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

export interface Bound {
  connection: Connection
  /** Absent for anonymous requests: there is nothing to read. */
  context: Context | undefined
}

/** BEGIN, the binding and the read of the context in one flight; the read runs as the role that was bound. */
export async function bind(
  call: Call,
  { binding, role, isReadOnly }: { binding: string; role: string; isReadOnly: boolean },
  identity: Identity | null,
): Promise<Bound> {
  const url = textBinding(call.env, binding)
  if (url === undefined) throw new Unavailable(`the binding ${binding} is not set`)
  const claims = JSON.stringify(identity?.claims ?? {})
  let connection: Connection | undefined
  try {
    const [{ connect }, signature] = await Promise.all([import('./driver.ts'), signClaims(call, claims)])
    connection = await connect(url)
    const flight = connection.fly([
      { text: `begin isolation level read committed read ${isReadOnly ? 'only' : 'write'}`, values: [] },
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

/** HMAC-SHA-256 in hex, under the key that the database verifies it with (contract 5.3). */
async function signClaims(call: Call, claims: string): Promise<string> {
  const secret = textBinding(call.env, 'CLAIMS_KEY')
  if (secret === undefined) throw new Unavailable('the binding CLAIMS_KEY is not set')
  const key = await hmacKey(secret)
  return toHex(await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(claims)))
}
