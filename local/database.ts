/** Connections to the local Postgres, and the URL of each login. */
import pg from 'pg'
import type { Keys } from './keys.ts'

export interface DatabaseUrls {
  /** The superuser `postgres`, who owns the database. */
  owner: string
  backend: string
  backendService: string
  auth: string
}

export function databaseUrls(port: number, { passwords }: Keys): DatabaseUrls {
  const url = (login: keyof Keys['passwords']) =>
    `postgresql://${login}:${encodeURIComponent(passwords[login])}@127.0.0.1:${port}/postgres?sslmode=disable`
  return {
    owner: url('postgres'),
    backend: url('stack_backend'),
    backendService: url('stack_backend_service'),
    auth: url('stack_auth'),
  }
}

/**
 * A server that ends while the connection is idle fails the next query. Without a listener it would end this process.
 * @param database its URL, or the driver's settings.
 */
export async function connect(database: string | pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(database)
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Runs one statement on a connection of its own. @returns its rows. */
export async function queryOnce<T>(databaseUrl: string, text: string, values: unknown[]): Promise<T[]> {
  const client = await connect(databaseUrl)
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end().catch(() => {})
  }
}
