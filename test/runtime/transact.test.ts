/** The transactions of a request, its work after the commit, and its calls of the auth worker (contract 2.4, 2.5, 2.16, 9.15). */
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Call } from '../../runtime/call.ts'
import type { RequestDatabase } from '../../runtime/database/transaction.ts'

type Current = NonNullable<ReturnType<typeof import('../../src/sdk/scope.ts').scope.getStore>>

let done: string[]
let lines: string[]
let waited: Promise<unknown>[]
let transact: typeof import('../../runtime/transact.ts')
let keys: typeof import('../../runtime/rotated-keys.ts')
let scope: typeof import('../../src/sdk/scope.ts').scope

beforeEach(async () => {
  done = []
  lines = []
  waited = []
  vi.resetModules() // an isolate of its own for each test
  transact = await import('../../runtime/transact.ts')
  keys = await import('../../runtime/rotated-keys.ts')
  scope = (await import('../../src/sdk/scope.ts')).scope
})

function database(name: string, fault?: Error): RequestDatabase {
  return {
    async commit() {
      await Promise.resolve()
      if (fault) throw fault
      done.push(`commit ${name}`)
    },
    async rollback() {
      done.push(`roll back ${name}`)
    },
  } as unknown as RequestDatabase
}

const callWith = (env: Record<string, unknown> = {}) =>
  ({
    requestId: 'req_1',
    env,
    request: new Request('https://shop.example/', { headers: { 'cf-connecting-ip': '192.0.2.1' } }),
    log: (_level: string, line: string) => lines.push(line),
    waitUntil: (work: Promise<unknown>) => waited.push(work),
  }) as unknown as Call

/** @returns what work sees of its request, in a transaction named `request`. Later work has one named `later`. */
const run = <T>(work: (current: Current) => Promise<T>, env?: Record<string, unknown>, fault?: Error): Promise<T> =>
  transact.createTransactions(scope, () => database('later'))(callWith(env), database('request', fault), () =>
    work(scope.getStore()!),
  )

describe('2.4 the transactions', () => {
  it('are committed before the answer is given, and rolled back where the work throws', async () => {
    expect(await run(async () => 'answer')).toBe('answer')
    expect(done).toEqual(['commit request'])
    await expect(run(() => Promise.reject(new TypeError('no paper')))).rejects.toThrow('no paper')
    expect(done).toEqual(['commit request', 'roll back request'])
  })

  it('fail the request whose commit fails', async () => {
    await expect(run(async () => 'answer', {}, new Error('lost'))).rejects.toThrow('lost')
    expect(done).toEqual(['roll back request'])
  })

  it('tell work that a handler left behind that its request is over', async () => {
    let current: Current | undefined
    await run(async (given) => {
      current = given
      expect(given.isOver).toBe(false)
    })
    expect(current?.isOver).toBe(true)
  })
})

describe('2.16 work for after the commit', () => {
  it('runs after it, each in a transaction of its own, and one that fails stops no other', async () => {
    await run(async ({ afterCommit }) => {
      for (const name of ['first', 'broken', 'last'])
        afterCommit(async () => {
          done.push(name)
          if (name === 'broken') throw new Error('no paper')
        })
      done.push('answer')
    })
    expect(done.slice(0, 2)).toEqual(['answer', 'commit request'])
    await Promise.all(waited)
    const later = ['first', 'commit later', 'broken', 'roll back later', 'last', 'commit later']
    expect(done.slice(2)).toEqual(later)
    expect(lines).toHaveLength(1)
  })

  it('does not run where the request fails, and is a hundred works at most', async () => {
    const failing = run(async ({ afterCommit }) => {
      for (let count = 0; count < 100; count += 1) afterCommit(async () => done.push('later'))
      afterCommit(async () => done.push('one too many'))
    })
    await expect(failing).rejects.toThrow('100 works')
    expect([done, waited]).toEqual([['roll back request'], []])
  })
})

describe('2.5 a call of the auth worker', () => {
  /** Answers 401 to every other key than these. */
  const worker = (...accepted: string[]) => {
    const asked: RequestInit[] = []
    const AUTH = {
      async fetch(_url: string, init: RequestInit) {
        asked.push(init)
        const { apikey } = init.headers as Record<string, string>
        return new Response('answer', { status: accepted.includes(apikey!) ? 200 : 401 })
      },
    }
    return { asked, env: { AUTH, SERVICE_ROLE_KEY: 'bound' } }
  }
  const ask = (env: Record<string, unknown>) =>
    run(async ({ manage }) => (await manage('PUT', '/v1/management/auth/x', { a: 1 })).status, env)

  it('has the service-role key and the body, and follows no redirect', async () => {
    const { asked, env } = worker('bound')
    expect(await ask(env)).toBe(200)
    expect(asked).toMatchObject([{ method: 'PUT', body: '{"a":1}', redirect: 'manual', headers: { apikey: 'bound' } }])
  })

  it('needs the binding AUTH and the key', async () => {
    const { AUTH } = worker('bound').env
    await expect(ask({ SERVICE_ROLE_KEY: 'bound' })).rejects.toThrow('AUTH is not set')
    await expect(ask({ AUTH })).rejects.toThrow('SERVICE_ROLE_KEY is not set')
  })

  it('9.15 that is refused is made once more, with the newest key', async () => {
    const { asked, env } = worker('rotated')
    keys.renewFromMirror(async () => keys.keepRotatedKeys({ SERVICE_ROLE_KEY: 'rotated' }))
    expect(await ask(env)).toBe(200)
    expect(asked.map(({ headers }) => (headers as Record<string, string>)['apikey'])).toEqual(['bound', 'rotated'])
  })

  it('9.15 that is refused stays refused where there is no newer key', async () => {
    const { asked, env } = worker()
    expect(await ask(env)).toBe(401)
    expect(asked).toHaveLength(1)
  })
})
