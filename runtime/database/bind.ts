/** Begins a transaction and binds it to a role and to signed claims (contract 5.2, 5.3). */
import { toHex } from '../bytes.ts'
import type { Call } from '../call.ts'
import { ownIssuer } from '../env.ts'
import { hmacKey } from '../hmac.ts'
import type { Identity } from '../identity/identify.ts'
import { keepFresh, newerKey, newestKey } from '../rotated-keys.ts'
import type { AskedDevice, FoundDevice } from './asked-device.ts'
import type { Statement } from './batch.ts'
import { type Connection, connect, isPooled, loadDriver } from './connection.ts'
import type { rowsOf } from './driver.ts'
import type { Grants } from './grants.ts'
import { limitsOf } from './limits.ts'
import { normalise, SqlError, statementMs, Unavailable } from './unavailable.ts'

interface Context extends Grants, FoundDevice {
  session_ended: boolean
}

/** The binding with the database's URL, the role that the login becomes, and whether the transaction is READ ONLY. */
export interface Login {
  binding: string
  role: string
  isReadOnly: boolean
}

export interface Bound {
  /** The session of the token was ended, and the transaction is bound to an anonymous caller instead. */
  isWithoutUser?: true
  connection: Connection
  /** Parses rows: the driver is loaded only with the first transaction. */
  rowsOf: typeof rowsOf
  /** Absent for an anonymous request: it has no grants. */
  context: Context | undefined
}

/** Milliseconds by which Postgres' own limits exceed the pool's, so that the pool rolls back first and keeps its connection. */
const secondLineMs = 1_000

/** Seconds that a claims signature outlives its transaction: the largest difference between the clocks of worker and Postgres. */
const signatureSlackSeconds = 30

/** BEGIN, the binding and the read of the context in one batch. The read runs as the bound role. @throws Unavailable */
export async function bind(call: Call, login: Login, identity: Identity | null, asked?: AskedDevice): Promise<Bound> {
  try {
    if (!identity) return await attempt(call, login, { claims: '{}', signature: unsigned })
    const claims = JSON.stringify(identity.claims)
    keepFresh(call)
    const key = newestKey(call.env, 'CLAIMS_KEY')
    if (key === undefined) throw new Unavailable('the binding CLAIMS_KEY is not set')
    try {
      return await attempt(call, login, { claims, signature: await signClaims(call, key, claims), asked })
    } catch (error) {
      // a rotation has ended the key: nothing of the request has run, and the newer key signs
      const newer = isSignatureRefused(error) ? await newerKey(call, 'CLAIMS_KEY', key) : undefined
      if (newer === undefined) throw error
      return await attempt(call, login, { claims, signature: await signClaims(call, newer, claims), asked })
    }
  } catch (error) {
    // a binding that Postgres refused is a fault of the configuration, and must not look like an answer about the caller
    throw error instanceof Unavailable
      ? error
      : new Unavailable('the transaction could not be bound', { cause: normalise(error) })
  }
}

/** Stands in the place of the signature of an anonymous request: empty claims need none, and the setting marks the bound transaction. */
const unsigned = 'none'

async function attempt(
  call: Call,
  { binding, role, isReadOnly }: Login,
  { claims, signature, asked }: { claims: string; signature: string; asked?: AskedDevice | undefined },
): Promise<Bound> {
  const { idleMs, transactionMs } = limitsOf(call.env)
  const { rowsOf } = await loadDriver()
  const later = isPooled(call.env) ? secondLineMs : 0
  const { connection, results } = await connect(call, binding, [
    {
      text: `begin isolation level read committed read ${isReadOnly ? 'only' : 'write'}`,
      values: [],
      reads: 'tag',
    },
    {
      text: `select set_config('role', $1, true), set_config('search_path', 'public', true),
            set_config('request.jwt.claims', $2, true), set_config('request.jwt.signature', $3, true),
            set_config('statement_timeout', $4, true), set_config('idle_in_transaction_session_timeout', $5, true),
            case when current_setting('server_version_num')::int >= 170000 then set_config('transaction_timeout', $6, true) end`,
      values: [role, claims, signature, ...[statementMs, idleMs + later, transactionMs + later].map(String)],
      reads: 'tag',
    },
    ...(signature === unsigned ? [] : contextStatements(ownIssuer(call.env) ?? null, asked)),
  ])
  const [, , read, claimed] = results
  const context = read && (rowsOf(read)[0] as unknown as Context)
  if (context && claimed) context.isClaimed = rowsOf(claimed)[0]!['is_claimed'] === true
  return { connection, rowsOf, context }
}

/** The nonce is used up after the read, so that it waits for nothing that the read could refuse. */
function contextStatements(issuer: string | null, asked: AskedDevice | undefined): Statement[] {
  if (!asked) return [{ text: 'select * from auth.request_context($1)', values: [issuer] }]
  const { keyId, nonce, time } = asked.proof
  const read = { text: 'select * from auth.request_context($1, $2)', values: [issuer, keyId] }
  if (!asked.isOnce) return [read]
  return [read, { text: 'select auth.claim_assertion($1, $2, $3) as is_claimed', values: [keyId, nonce, String(time)] }]
}

/** Postgres refused the signature (invalid_authorization_specification), and no other part of the batch raises this. */
function isSignatureRefused(error: unknown): boolean {
  return error instanceof SqlError && error.code === '28000'
}

/**
 * `<expiry>.<HMAC-SHA-256 in hex>` under the key with which the database verifies it (contract 5.3). The HMAC covers
 * `<expiry>.<claims>`. A signature that leaked is useless after its expiry.
 */
async function signClaims({ env }: Call, secret: string, claims: string): Promise<string> {
  const key = await hmacKey(secret)
  const expires = Math.ceil(Date.now() / 1000 + limitsOf(env).transactionMs / 1000 + signatureSlackSeconds)
  const signed = new TextEncoder().encode(`${expires}.${claims}`)
  return `${expires}.${toHex(await crypto.subtle.sign('HMAC', key, signed))}`
}
