/** The batch that binds a transaction to a role, to signed claims and to its limits (contract 5.2, 5.3, 5.6, 5.7). */
import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bind } from '../../runtime/database/bind.ts'
import { limitsOf } from '../../runtime/database/limits.ts'
import { SqlError, Unavailable } from '../../runtime/database/unavailable.ts'
import { type FakeDatabase, fakeCall, fakeDatabase, signedIn } from '../support/fake-driver.ts'

const held = vi.hoisted(() => ({ database: undefined as unknown as FakeDatabase }))
vi.mock('../../runtime/database/driver.ts', () => ({
  open: (...asked: unknown[]) => held.database.open(...asked),
  rowsOf: ({ rows }: { rows: unknown[] }) => rows,
}))

const login = { binding: 'DATABASE_URL', role: 'backend_authenticated', isReadOnly: false }
/** Unix time in seconds at which every transaction of these tests begins. */
const began = 1_700_000_000

beforeEach(() => {
  vi.useFakeTimers({ now: began * 1000 })
  held.database = fakeDatabase()
})
afterEach(() => {
  vi.useRealTimers()
})

const refused = (code: string) => Object.assign(new SqlError('refused'), { code })
const failureOf = (work: Promise<unknown>) => work.then(() => undefined).catch((error: Error) => error)
const plain = (text: string) => text.replace(/\s+/g, ' ')

describe('5.2 the first batch', () => {
  it('begins, binds for this transaction alone, and reads the context', async () => {
    const { context } = await bind(fakeCall().call, login, signedIn)
    const [statements] = held.database.batches
    expect(statements!.map(({ text }) => plain(text))).toEqual([
      'begin isolation level read committed read write',
      `select set_config('role', $1, true), set_config('search_path', 'public', true), ` +
        `set_config('request.jwt.claims', $2, true), set_config('request.jwt.signature', $3, true), ` +
        `set_config('statement_timeout', $4, true), set_config('idle_in_transaction_session_timeout', $5, true), ` +
        `case when current_setting('server_version_num')::int >= 170000 then set_config('transaction_timeout', $6, true) end`,
      'select * from auth.request_context($1)',
    ])
    const [role, claims, , ...limits] = statements![1]!.values
    expect([role, claims, limits]).toEqual([
      'backend_authenticated',
      JSON.stringify(signedIn.claims),
      ['10000', '10000', '30000'],
    ])
    expect(statements![2]!.values).toEqual(['https://stack.example/auth'])
    expect(context).toEqual(held.database.context)
  })

  it('of an anonymous caller has no claims, and reads nothing', async () => {
    const { context } = await bind(fakeCall().call, login, null)
    const [statements] = held.database.batches
    expect([statements!.length, statements![1]!.values[1], context]).toEqual([2, '{}', undefined])
  })

  it('is READ ONLY where that is asked for', async () => {
    await bind(fakeCall().call, { ...login, isReadOnly: true }, null)
    expect(held.database.batches[0]![0]!.text).toBe('begin isolation level read committed read only')
  })

  it('that Postgres refuses is an outage, not an answer about the caller', async () => {
    held.database.refusals = [refused('42501')]
    expect(await failureOf(bind(fakeCall().call, login, signedIn))).toBeInstanceOf(Unavailable)
  })
})

describe('5.3 the signature of the claims', () => {
  it('covers expiry and claims, and lasts half a minute longer than the transaction', async () => {
    await bind(fakeCall().call, login, signedIn)
    const [, claims, signature] = held.database.batches[0]![1]!.values
    const expiry = began + 30 + 30
    const digest = createHmac('sha256', 'the key of the claims').update(`${expiry}.${claims}`).digest('hex')
    expect(signature).toBe(`${expiry}.${digest}`)
  })

  it('is not made without the key', async () => {
    expect(await failureOf(bind(fakeCall({ CLAIMS_KEY: '' }).call, login, signedIn))).toMatchObject({
      name: 'Unavailable',
      message: 'the binding CLAIMS_KEY is not set',
    })
    expect(held.database.batches).toEqual([])
  })
})

describe('5.7 the limits of a transaction', () => {
  it.each([
    [{}, { idleMs: 10_000, transactionMs: 30_000 }],
    [
      { STACK_IDLE_MS: '1', STACK_TRANSACTION_MS: '600000' },
      { idleMs: 1, transactionMs: 600_000 },
    ],
  ])('%j', (env, limits) => {
    expect(limitsOf(env)).toEqual(limits)
  })

  it.each(['0', '-1', '1.5', '600001', 'ten', '1e99'])('a binding of %s is no limit', (STACK_IDLE_MS) => {
    expect(() => limitsOf({ STACK_IDLE_MS })).toThrow(Unavailable)
  })
})

describe('5.4 a connection of the pool', () => {
  function pool() {
    const asked: string[] = []
    const batches: (readonly { values: unknown[] }[])[] = []
    const behaviour: { lend?: () => Promise<never>; failure?: Record<string, string> } = {}
    const object = {
      async lend(_binding: string, statements: { values: unknown[] }[], caller: string) {
        asked.push(`lend to ${caller}`)
        batches.push(statements)
        if (behaviour.lend) return behaviour.lend()
        if (behaviour.failure) return { failure: behaviour.failure }
        return {
          results: [{}, {}, { rows: [held.database.context] }],
          loan: {
            run: async () => ({ result: { tag: 'SELECT 1', rows: [] }, transactionId: null, hasEnded: false }),
            commit: async () => ({ tag: 'COMMIT' }),
          },
          end: {
            async commit() {
              asked.push('commit')
              return {}
            },
          },
          [Symbol.dispose]: () => asked.push('dispose'),
        }
      },
    }
    return { asked, batches, behaviour, STACK_POOL: { idFromName: (name: string) => name, get: () => object } }
  }

  it('is asked for in the name of the caller, and ended by the pool before Postgres ends it', async () => {
    const { asked, batches, STACK_POOL } = pool()
    await bind(fakeCall({ STACK_POOL }).call, login, signedIn)
    expect(asked).toEqual(['lend to ip 192.0.2.7'])
    expect(batches[0]![1]!.values.slice(3)).toEqual(['10000', '11000', '31000'])
  })

  it('is committed at its end only where that is asked for', async () => {
    const { asked, STACK_POOL } = pool()
    const { connection } = await bind(fakeCall({ STACK_POOL }).call, login, signedIn)
    await connection.close()
    expect(asked.slice(1)).toEqual(['dispose'])
    const another = await bind(fakeCall({ STACK_POOL }).call, login, signedIn)
    await another.connection.close(true)
    expect(asked.slice(3)).toEqual(['commit', 'dispose'])
  })

  it('that is not lent is an outage', async () => {
    const { behaviour, STACK_POOL } = pool()
    behaviour.lend = () => Promise.reject(new TypeError('the object is gone'))
    const { connect } = await import('../../runtime/database/connection.ts')
    const { call } = fakeCall({ STACK_POOL })
    expect(await failureOf(connect(call, 'DATABASE_URL', []))).toMatchObject({
      name: 'Unavailable',
      message: 'the pool of connections does not answer',
    })
    delete behaviour.lend
    behaviour.failure = { name: 'Unavailable', message: 'no connection was free' }
    expect(await failureOf(connect(call, 'DATABASE_URL', []))).toBeInstanceOf(Unavailable)
    behaviour.failure = { name: 'SqlError', message: 'no', code: '42501' }
    expect(await failureOf(connect(call, 'DATABASE_URL', []))).toMatchObject({ name: 'SqlError', code: '42501' })
  })
})

describe('5.7 a login that Postgres refuses', () => {
  const auth = (repairLogins: () => Promise<void>) => ({ AUTH: { repairLogins } })
  const fresh = async () => {
    vi.resetModules()
    return (await import('../../runtime/database/bind.ts')).bind
  }
  const sqlError = async (code: string) => {
    const { SqlError } = await import('../../runtime/database/unavailable.ts')
    return Object.assign(new SqlError('refused'), { code })
  }

  it('is repaired once in ten seconds, and the request is served', async () => {
    const bind = await fresh()
    const repair = vi.fn(async () => {})
    const { call } = fakeCall(auth(repair))
    held.database.refusals = [await sqlError('28P01')]
    await bind(call, login, null)
    expect([repair.mock.calls.length, held.database.batches.length]).toEqual([1, 1])
    held.database.refusals = [await sqlError('28P01')]
    expect(await failureOf(bind(call, login, null))).toMatchObject({ name: 'Unavailable' })
    expect(repair).toHaveBeenCalledTimes(1)
    vi.advanceTimersByTime(10_000)
    held.database.refusals = [await sqlError('58P01')]
    await bind(call, login, null)
    expect(repair).toHaveBeenCalledTimes(2)
  })

  it('is no reason for a second attempt where the repair fails', async () => {
    const bind = await fresh()
    held.database.refusals = [await sqlError('28P01')]
    const { call } = fakeCall(auth(() => Promise.reject(new Error('no'))))
    expect(await failureOf(bind(call, login, null))).toMatchObject({ name: 'Unavailable' })
    expect(held.database.open).toHaveBeenCalledTimes(1)
  })

  it('is told from every other failure', async () => {
    const bind = await fresh()
    const repair = vi.fn(async () => {})
    held.database.refusals = [await sqlError('53300')]
    expect(await failureOf(bind(fakeCall(auth(repair)).call, login, null))).toMatchObject({ name: 'Unavailable' })
    expect(repair).not.toHaveBeenCalled()
  })
})
