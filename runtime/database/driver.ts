/**
 * The database driver: a module of its own in the bundle, imported at the first use of a database, so that nobody else
 * pays for its start (contract 5.4).
 */
import { Client, types } from '@neondatabase/serverless'
import { Flight, type Statement } from './flight.ts'
import { tcpSocketClass } from './tcp-socket.ts'

const connectMs = 5_000

export interface Connection {
  /** @returns the rows of each statement. */
  fly(statements: readonly Statement[]): Promise<Record<string, unknown>[][]>
  /** One statement, by the extended protocol: a second one in the same text is refused (42601). */
  query(text: string, values: readonly (string | Uint8Array | null)[]): Promise<Record<string, unknown>[]>
  /** @returns the command tag: a COMMIT of a failed transaction comes back as `ROLLBACK`. */
  end(command: 'COMMIT' | 'ROLLBACK'): Promise<string>
  close(): Promise<void>
}

/** @param url `postgresql://user:password@host:port/database`. @throws whatever the driver throws. */
export async function connect(url: string): Promise<Connection> {
  const { hostname, searchParams } = new URL(url)
  const client = new Client({ connectionString: withoutSslMode(url), connectionTimeoutMillis: connectMs, ssl: false })
  const isNeon = hostname.endsWith('.neon.tech')
  // to Neon over its WebSocket; to any other Postgres over TCP, with TLS unless the host is loopback
  if (!isNeon) {
    const isLoopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
    const settings = client.neonConfig
    settings.webSocketConstructor = tcpSocketClass(
      !isLoopback && searchParams.get('sslmode') !== 'disable',
    ) as unknown as typeof WebSocket // the driver uses only what the class has
    settings.wsProxy = (host, port) => `${host.includes(':') ? `[${host}]` : host}:${port}`
    settings.useSecureWebSocket = false
    settings.pipelineConnect = false
  }
  client.on('error', () => {}) // a connection that breaks between two queries fails the next one
  await client.connect()
  let statements = 0
  return {
    fly(list) {
      const flight = new Flight(list, (type) => types.getTypeParser(type))
      client.query(flight as never)
      return flight.done
    },
    async query(text, values) {
      // a name of its own keeps the driver off the simple protocol, which would run several statements
      const { rows } = await client.query({ name: `stack_${++statements}`, text, values: [...values] })
      return rows
    },
    async end(command) {
      const { command: tag } = await client.query(command)
      return tag
    },
    close: () => client.end(),
  }
}

function withoutSslMode(url: string): string {
  const parsed = new URL(url)
  parsed.searchParams.delete('sslmode')
  parsed.searchParams.delete('channel_binding')
  return parsed.href
}
