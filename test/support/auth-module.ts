/**
 * Runs classes of the auth module in Node against a real Postgres: what only an edge test could reach takes milliseconds. The test file
 * replaces the decorators, which no built worker executes: `vi.mock('@stack/backend', withoutDecorators)`.
 */
import { timingSafeEqual } from 'node:crypto'
import type pg from 'pg'
import { beforeAll } from 'vitest'
import { HttpError } from '../../src/sdk/errors.ts'
import { type RequestScope, type Row, scope } from '../../src/sdk/scope.ts'
import { signatureOf } from './claims-signature.ts'
import { claimsKey, useMigratedPostgres } from './migrated-postgres.ts'

const decorators =
  'Injectable Controller Module Cron Get Post Put Delete Patch Body Param Query Header Req RequestId User OptionalUser Client'.split(
    ' ',
  )

/** For `vi.mock`: the SDK, whose decorators do nothing. */
export async function withoutDecorators(original: () => Promise<unknown>): Promise<object> {
  const nothing = () => () => {}
  return { ...((await original()) as object), ...Object.fromEntries(decorators.map((name) => [name, nothing])) }
}

/** 32 bytes in base64url. */
const key = (letter: string) => Buffer.alloc(32, letter).toString('base64url')

export interface AuthModule {
  /** Bindings of the worker. */
  env: Record<string, unknown>
  /** Runs SQL as the owner of the database. */
  sql<T = Row>(text: string, values?: unknown[]): Promise<T[]>
  /** Runs work as a request of the auth worker: what it returns is committed, also an error, and what it throws is rolled back. */
  request<T>(work: () => Promise<T>, claims?: object): Promise<T>
  /** The code of the error that a request throws or returns, or `done`. */
  codeOf(work: () => Promise<unknown>, claims?: object): Promise<string>
  /**
   * Runs thirty requests at once. Each of them waits where it first writes to the table, so that none reads what another one has written,
   * unless a lock keeps it from reading. @returns their codes.
   */
  atOnce(
    table: string,
    work: (n: number) => Promise<unknown>,
    claimsOf?: (n: number) => object | undefined,
  ): Promise<string[]>
}

/** Starts a Postgres with the module's migrations for a test file, and ends it after the tests. */
export function useAuthModule(): AuthModule {
  const postgres = useMigratedPostgres()
  const idle: Record<string, pg.Client[]> = { caller: [], service: [] }

  beforeAll(() => {
    const subtle = crypto.subtle as unknown as Record<string, unknown>
    subtle['timingSafeEqual'] = (one: Uint8Array, other: Uint8Array) => timingSafeEqual(one, other)
  })

  async function begin(kind: 'caller' | 'service', claims: object | undefined): Promise<pg.Client> {
    const client = idle[kind]!.pop() ?? (await postgres.connect(kind === 'caller' ? 'stack_backend' : 'stack_auth'))
    const text = JSON.stringify(claims ?? {})
    await client.query(`begin; set local role ${kind === 'caller' ? 'backend_authenticated' : 'auth_admin'}`)
    await client.query(
      `select set_config('request.jwt.claims', $1, true), set_config('request.jwt.signature', $2, true)`,
      [text, signatureOf(text, claimsKey)],
    )
    return client
  }

  /** A transaction that its first query opens. */
  function transaction(kind: 'caller' | 'service', claims: object | undefined) {
    let opened: Promise<pg.Client> | undefined
    return {
      async query<T>(text: string, values: readonly unknown[] = []): Promise<T[]> {
        opened ??= begin(kind, claims)
        return (await (await opened).query(text, [...values])).rows as T[]
      },
      async end(command: 'commit' | 'rollback'): Promise<void> {
        const client = await opened
        if (!client) return
        await client.query(command)
        idle[kind]!.push(client)
      },
    }
  }

  async function within<T, R>(
    open: T & { end(command: 'commit' | 'rollback'): Promise<void> },
    work: (own: T) => Promise<R>,
  ) {
    try {
      const result = await work(open)
      await open.end('commit')
      return result
    } catch (error) {
      await open.end('rollback')
      throw error
    }
  }

  const module: AuthModule = {
    env: {
      SEALING_KEY: 'the key that seals',
      PASSWORD_PEPPER: key('p'),
      REFRESH_KEY: key('r'),
      STACK_URL: 'https://stack.example',
      AUTH_AUDIENCE: 'stack',
    },
    sql: postgres.sql,
    request(work, claims) {
      const caller = transaction('caller', claims)
      const service = transaction('service', claims)
      const current: RequestScope = {
        requestId: 'req_1',
        env: module.env,
        log() {},
        caller,
        service,
        apart: (inner) => within(transaction('service', claims), inner),
        afterCommit() {},
        manage: () => Promise.reject(new Error('the auth worker manages itself')),
        isOver: false,
      }
      const both = {
        async end(command: 'commit' | 'rollback') {
          await service.end(command)
          await caller.end(command)
        },
      }
      return within(both, () => scope.run(current, work))
    },
    async codeOf(work, claims) {
      const result = await module.request(work, claims).catch((error: unknown) => error)
      if (result instanceof HttpError) return result.code
      if (result instanceof Error) throw result
      return 'done'
    },
    async atOnce(table, work, claimsOf = () => undefined) {
      const times = 30
      let ended = 0
      await postgres.sql(`begin; lock table ${table} in share row exclusive mode`)
      const codes = Promise.all(
        Array.from({ length: times }, (_, n) => module.codeOf(() => work(n), claimsOf(n)).finally(() => ended++)),
      )
      codes.catch(() => {}) // it is awaited below
      const waiting = async () =>
        (await postgres.sql<{ count: number }>('select count(*)::int as count from pg_locks where not granted'))[0]!
          .count
      while (ended + (await waiting()) < times) await new Promise((resolve) => setTimeout(resolve, 10))
      await postgres.sql('commit')
      return codes
    },
  }
  return module
}
