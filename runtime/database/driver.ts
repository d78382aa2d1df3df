/**
 * The database driver: a module of its own in the bundle, imported at the first use of a database, so that nobody else
 * pays for its start (contract 5.4).
 */
import { Client, types } from '@neondatabase/serverless'
import type { Row } from '../../src/sdk/scope.ts'
import { isLoopback } from '../../src/wire/loopback.ts'
import { Batch, type Result, type Statement } from './batch.ts'
import { tcpSocketClass } from './tcp-socket.ts'
import { normalise, openMs, within } from './unavailable.ts'

export interface BatchResult {
  /** One for each statement. */
  results: Result[]
}

/** What a statement of the project's did. */
export interface StatementResult {
  result: Result
  /** The id that Postgres gave to the transaction once it wrote something; `null` before. */
  transactionId: string | null
  /** The statement ended the transaction that was bound to the caller: nothing more of the request may run. */
  hasEnded: boolean
}

/** A connection to Postgres. What a project wrote goes by the extended protocol: several statements in one text are refused (42601). */
export interface Link {
  /** Sends the statements as one batch. @throws Unavailable, or the error that Postgres raised. */
  send(statements: readonly Statement[]): Promise<BatchResult>
  /**
   * Runs a statement of the project's inside the transaction that the first batch began.
   * @throws as `send` does; an error with code 25P01 when an earlier statement has ended the transaction.
   */
  run(statement: Statement): Promise<StatementResult>
  /** @returns the tag of the COMMIT: `ROLLBACK` where a statement of the transaction had failed. @throws as `run` does. */
  commit(): Promise<string>
  readonly isBroken: boolean
  /** Ends what is open and empties the session. @throws as `send` does. */
  renew(command: 'commit' | 'rollback'): Promise<void>
  close(): Promise<void>
}

/** What the types of the driver leave out. */
interface Wire {
  once(event: 'authenticationCleartextPassword', listener: () => void): void
  prependListener(event: 'readyForQuery', listener: (message: { status: string }) => void): void
}

/**
 * What is left of a request goes: an open transaction, and all that `DISCARD ALL` takes of a session but its plans, which no
 * statement can read and which every next request would make anew for two fifths of its time. One message: what
 * fails in it fails whole.
 */
const renewal = `close all; set session authorization default; reset all; deallocate all; unlisten *;
  select pg_catalog.pg_advisory_unlock_all(); discard temp; discard sequences`

/** URLs whose host takes their password as it is: it goes out with the first message, which saves two round trips. */
const trusting = new Set<string>()

/**
 * Sent after each statement of the project's. A transaction without an id has written nothing (contract 2.4). The signature of
 * the claims is set for the bound transaction alone: where it is gone, `rollback and chain` or the like has begun another one.
 */
const guard: Statement = {
  text: `select pg_catalog.txid_current_if_assigned(), pg_catalog.current_setting('request.jwt.signature', true) <> ''`,
  values: [],
  reads: 'rows',
}

/**
 * Connects, and sends the statements as soon as the host lets it.
 * @param url `postgresql://user:password@host:port/database`. @throws as `Link.send` does.
 */
export async function open(url: string, statements: readonly Statement[]): Promise<BatchResult & { link: Link }> {
  if (new URL(url).hostname.endsWith('.neon.tech')) trusting.add(url) // its proxy is made for it
  const isPipelined = trusting.has(url)
  try {
    return await connect(url, statements, isPipelined)
  } catch (error) {
    // class 28: it does not trust any more; 08P01: it has expected something else
    const { code } = ((error as Error).cause ?? error) as { code?: unknown }
    if (!isPipelined || !/^(?:28|08P01)/.test(String(code))) throw error
    trusting.delete(url)
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
  client.on('error', () => (isBroken = true)) // the next batch says so
  client.once('end', () => (isBroken = true))
  /** The driver asks when it is the batch's turn: a statement before it may have ended the transaction by then. */
  const refusal = () => (hasEnded || (hasBegun && !isInTransaction) ? transactionOver() : undefined)
  const link: Link = {
    get isBroken() {
      return isBroken
    },
    async send(list) {
      const batch = new Batch(list, refusal, () => (hasBegun = true))
      client.query(batch as never)
      return { results: await normalised(batch.done) }
    },
    async run(statement) {
      let transactionId: string | null = null
      const batch = new Batch([statement, guard], refusal, ([result, state]) => {
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
      // a statement may have chosen the seed, and with it what random() gives the next caller
      const seeded = `select pg_catalog.setseed(${Math.random()})`
      await normalised(client.query(`${command}; ${renewal}; ${seeded}`))
      hasBegun = false
      hasEnded = false
    },
    close: () => client.end().catch(() => {}),
  }
  try {
    const connecting = client.connect()
    const wire = (client as unknown as { connection: Wire }).connection
    wire.once('authenticationCleartextPassword', () => trusting.add(url))
    // before the driver's own listener, which is the one that ends a batch
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

/** To Neon over its WebSocket; to any other Postgres over TCP, with TLS unless the host is loopback. */
function clientFor(url: string): Client {
  const parsed = new URL(url)
  const { hostname, searchParams } = parsed
  const hasTls = !isLoopback(hostname) && searchParams.get('sslmode') !== 'disable'
  searchParams.delete('sslmode')
  searchParams.delete('channel_binding')
  const client = new Client({ connectionString: parsed.href, ssl: false })
  if (hostname.endsWith('.neon.tech')) return client
  const settings = client.neonConfig
  settings.webSocketConstructor = tcpSocketClass(hasTls) as unknown as typeof WebSocket // the driver uses only what the class has
  settings.wsProxy = (host, port) => `${host.includes(':') ? `[${host}]` : host}:${port}`
  settings.useSecureWebSocket = false
  settings.coalesceWrites = false // by a timer; the socket does without
  return client
}

/** Of two columns with one name, the last. */
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
