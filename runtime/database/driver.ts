/**
 * The database driver: a module of its own in the bundle. It is imported at the first use of a database, so that other
 * requests do not pay for its start (contract 5.4).
 */
import { Client, types } from '@neondatabase/serverless'
import type { Row } from '../../src/sdk/scope.ts'
import { isLoopback } from '../../src/wire/loopback.ts'
import { Batch, type Result, type Statement } from './batch.ts'
import { tcpSocketClass } from './tcp-socket.ts'
import { normalise, openMs, within } from './unavailable.ts'

export interface BatchResult {
  /** One result for each statement. */
  results: Result[]
}

/** The effect of one of the project's statements. */
export interface StatementResult {
  result: Result
  /** The id that Postgres gives a transaction when it first writes. Before that, `null`. */
  transactionId: string | null
  /** The statement ended the transaction that was bound to the caller: no other statement of the request may run. */
  hasEnded: boolean
}

/** A connection to Postgres. The project's statements use the extended protocol: a text with several is refused (42601). */
export interface Link {
  /** Sends the statements as one batch. @throws Unavailable, or the error that Postgres raised. */
  send(statements: readonly Statement[]): Promise<BatchResult>
  /**
   * Runs one of the project's statements inside the transaction that the first batch began.
   * @throws as `send` does, and an error with code 25P01 when an earlier statement has ended the transaction.
   */
  run(statement: Statement): Promise<StatementResult>
  /** @returns the tag of the COMMIT: `ROLLBACK` where a statement of the transaction failed. @throws as `run` does. */
  commit(): Promise<string>
  readonly isBroken: boolean
  /** Ends the open transaction and empties the session. @throws as `send` does. */
  renew(command: 'commit' | 'rollback'): Promise<void>
  close(): Promise<void>
}

/** The part of the driver's connection that its types leave out. */
interface Wire {
  once(event: 'authenticationCleartextPassword', listener: () => void): void
  prependListener(event: 'readyForQuery', listener: (message: { status: string }) => void): void
}

/**
 * Empties a session as `DISCARD ALL` does, except for cached plans. No statement can read those, and making them anew would
 * take two fifths of the next request's time. All of it is one message, so it takes effect as a whole or fails as a whole.
 */
const renewal = `close all; set session authorization default; reset all; deallocate all; unlisten *;
  select pg_catalog.pg_advisory_unlock_all(); discard temp; discard sequences`

/** URLs whose host accepts the password as clear text. It is sent with the first message, which saves two round trips. */
const acceptsCleartext = new Set<string>()

/**
 * Sent after each of the project's statements. A transaction without an id has written nothing (contract 2.4). The signature
 * of the claims is set for the bound transaction alone. Where it is missing, `rollback and chain` has begun another one.
 */
const guard: Statement = {
  text: `select pg_catalog.txid_current_if_assigned(), pg_catalog.current_setting('request.jwt.signature', true) <> ''`,
  values: [],
  reads: 'rows',
}

/**
 * Connects and sends the first batch.
 * @param url `postgresql://user:password@host:port/database`. @throws as `Link.send` does.
 */
export async function open(url: string, statements: readonly Statement[]): Promise<BatchResult & { link: Link }> {
  if (new URL(url).hostname.endsWith('.neon.tech')) acceptsCleartext.add(url) // Neon's proxy expects it
  const isPipelined = acceptsCleartext.has(url)
  try {
    return await connect(url, statements, isPipelined)
  } catch (error) {
    // class 28: the host asks for another kind of authentication now. 08P01: it did not expect a password.
    const { code } = ((error as Error).cause ?? error) as { code?: unknown }
    if (!isPipelined || !/^(?:28|08P01)/.test(String(code))) throw error
    acceptsCleartext.delete(url)
    return connect(url, statements, false)
  }
}

async function connect(url: string, statements: readonly Statement[], isPipelined: boolean) {
  const client = clientFor(url)
  const settings = client.neonConfig
  settings.pipelineConnect = isPipelined ? 'password' : false
  let isBroken = false
  let isInTransaction = false
  /** The first batch has begun a transaction. */
  let hasBegun = false
  /** A statement has ended it, or has begun another one in its place. */
  let hasEnded = false
  client.on('error', () => (isBroken = true)) // the next batch fails with the reason
  client.once('end', () => (isBroken = true))
  /** Checked when the batch is sent: a statement before it may have ended the transaction by then. */
  const endedFault = () => (hasEnded || (hasBegun && !isInTransaction) ? transactionOver() : undefined)
  const link: Link = {
    get isBroken() {
      return isBroken
    },
    async send(list) {
      const batch = new Batch(list, endedFault, () => (hasBegun = true))
      client.query(batch as never)
      return { results: await normalised(batch.done) }
    },
    async run(statement) {
      let transactionId: string | null = null
      const batch = new Batch([statement, guard], endedFault, ([result, state]) => {
        const [id, isBound] = state!.rows[0]!
        transactionId = id ?? null
        hasEnded ||= !isInTransaction || result!.tag === 'COMMIT' || isBound !== 't'
      })
      client.query(batch as never)
      const [result] = await normalised(batch.done)
      return { result: result!, transactionId, hasEnded }
    },
    commit: async () => (await link.send([{ text: 'COMMIT', values: [], reads: 'tag' }])).results[0]!.tag,
    async renew(command) {
      // a statement may have set the seed, and with it the numbers that random() gives the next caller
      const seeding = `select pg_catalog.setseed(${Math.random()})`
      await normalised(client.query(`${command}; ${renewal}; ${seeding}`))
      hasBegun = false
      hasEnded = false
    },
    close: () => client.end().catch(() => {}),
  }
  try {
    const connecting = client.connect()
    const wire = (client as unknown as { connection: Wire }).connection
    wire.once('authenticationCleartextPassword', () => acceptsCleartext.add(url))
    // before the driver's own listener, because that one ends the batch
    wire.prependListener('readyForQuery', ({ status }) => (isInTransaction = status !== 'I'))
    const [first] = await within(Promise.all([link.send(statements), connecting]), openMs)
    return { link, ...first }
  } catch (error) {
    link.close()
    throw normalise(error)
  }
}

function transactionOver(): Error {
  return Object.assign(new Error('an earlier statement has ended the transaction'), { code: '25P01' })
}

function normalised<T>(answer: Promise<T>): Promise<T> {
  return answer.catch((error: unknown) => Promise.reject(normalise(error)))
}

/** A client that reaches Neon over its WebSocket, and any other Postgres over TCP, with TLS unless the host is loopback. */
function clientFor(url: string): Client {
  const parsed = new URL(url)
  const { hostname, searchParams } = parsed
  const hasTls = !isLoopback(hostname) && searchParams.get('sslmode') !== 'disable'
  searchParams.delete('sslmode')
  searchParams.delete('channel_binding')
  const client = new Client({ connectionString: parsed.href, ssl: false })
  if (hostname.endsWith('.neon.tech')) return client
  const settings = client.neonConfig
  settings.webSocketConstructor = tcpSocketClass(hasTls) as unknown as typeof WebSocket // the class has every member that the driver uses
  settings.wsProxy = (host, port) => `${host.includes(':') ? `[${host}]` : host}:${port}`
  settings.useSecureWebSocket = false
  settings.coalesceWrites = false // the driver waits for a timer, and the socket coalesces without one
  return client
}

/** Parses rows. Where two columns have one name, the last one counts. */
export function rowsOf({ names, types: oids, rows }: Result): Row[] {
  const parsers = oids.map((oid) => types.getTypeParser(oid) as (text: string) => unknown)
  return rows.map((cells) => {
    const row: Row = {}
    cells.forEach((text, index) => {
      row[names[index]!] = text === null ? null : parsers[index]!(text)
    })
    return row
  })
}
