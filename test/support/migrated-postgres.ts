/** A Postgres of a test file with the migrations of the runtime and of the auth module, and with the logins of the workers. */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { installKeys } from '../../local/logins.ts'
import { migrate, setsOf } from '../../local/migrate.ts'
import { type Postgres, startPostgres } from '../../local/postgres.ts'

const password = 'local'
/** Passwords of the logins. */
const logins = { stack_backend: 'a', stack_backend_service: 'b', stack_auth: 'c' }
export type Login = keyof typeof logins

/** The key with which the database checks signatures of claims. */
export const claimsKey = 'the key of the claims'

export interface MigratedPostgres {
  /** Runs SQL as the owner. */
  sql<T = Record<string, unknown>>(text: string, values?: unknown[]): Promise<T[]>
  /** @returns a new connection of a login, which ends after the tests of the file. */
  connect(login: Login): Promise<pg.Client>
}

/** Starts it before the tests of the file, and ends it after them. */
export function useMigratedPostgres(): MigratedPostgres {
  let postgres: Postgres
  let directory: string
  let owner: pg.Client
  const clients: pg.Client[] = []

  async function connect(login: string, secret: string): Promise<pg.Client> {
    const client = new pg.Client(`postgresql://${login}:${secret}@127.0.0.1:${postgres.port}/postgres`)
    clients.push(client)
    await client.connect()
    return client
  }

  beforeAll(async () => {
    directory = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-test-'))
    postgres = await startPostgres({ directory, password })
    const url = `postgresql://postgres:${password}@127.0.0.1:${postgres.port}/postgres`
    await migrate(url, setsOf(path.join(directory, 'project')))
    owner = await connect('postgres', password)
    await installKeys(url, { claimsKey, passwords: logins })
  })
  afterAll(async () => {
    for (const client of clients) await client.end()
    await postgres?.stop()
    fs.rmSync(directory, { recursive: true, force: true })
  })

  return {
    sql: async <T>(text: string, values: unknown[] = []) => (await owner.query(text, values)).rows as T[],
    connect: (login) => connect(login, logins[login]),
  }
}
