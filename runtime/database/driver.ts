/**
 * The database driver: a module of its own in the bundle, imported at the first use of a database, so that nobody else
 * pays for its start (contract 5.4).
 */
import { Client, types } from '@neondatabase/serverless'
import type { Row } from '../../src/sdk/scope.ts'
import { isLoopback } from '../../src/wire/loopback.ts'
import { Flight, type Result, type Statement } from './flight.ts'
import { tcpSocketClass } from './tcp-socket.ts'
import { normalise, openMs, within } from './unavailable.ts'

export interface Flown {
  /** One for each statement. */
  results: Result[]
  /** Whether a transaction is open afterwards. */
  isInTransaction: boolean
}

/** A connection to Postgres. What a project wrote goes by the extended protocol: several statements in one text are refused (42601). */
export interface Link {
  /** @throws Unavailable, or the error that Postgres raised. */
  fly(statements: readonly Statement[]): Promise<Flown>
  readonly isBroken: boolean
  /** Ends what is open and empties the session. @throws as `fly` does. */
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
 * Connects, and sends the statements as soon as the host lets it.
 * @param url `postgresql://user:password@host:port/database`. @throws as `Link.fly` does.
 */
export async function open(url: string, statements: readonly Statement[]): Promise<Flown & { link: Link }> {
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
  client.on('error', () => (isBroken = true)) // the next flight says so
  client.once('end', () => (isBroken = true))
  const link: Link = {
    get isBroken() {
      return isBroken
    },
    async fly(list) {
      const flight = new Flight(list)
      client.query(flight as never)
      const results = await normalised(flight.done)
      return { results, isInTransaction }
    },
    async renew(command) {
      // a seed that somebody has chosen would choose what random() is for the next
      const seeded = `select pg_catalog.setseed(${Math.random()})`
      await normalised(client.query(`${command}; ${renewal}; ${seeded}`))
    },
    close: () => client.end().catch(() => {}),
  }
  try {
    const connecting = client.connect()
    const wire = (client as unknown as { connection: Wire }).connection
    wire.once('authenticationCleartextPassword', () => trusting.add(url))
    // before the driver's own listener, which is the one that ends a flight
    wire.prependListener('readyForQuery', ({ status }) => (isInTransaction = status !== 'I'))
    const [flown] = await within(Promise.all([link.fly(statements), connecting]), openMs)
    return { link, ...flown }
  } catch (error) {
    link.close()
    throw normalise(error)
  }
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
