/** Connections that outlive a request: which caller gets one, for how long, and when it is closed (contract 5.4, 5.7). */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Link } from '../../runtime/database/driver.ts'
import type { Lease } from '../../runtime/database/lease.ts'
import { createPool } from '../../runtime/database/pool.ts'
import { SqlError, Unavailable } from '../../runtime/database/unavailable.ts'

const begin = [{ text: 'begin', values: [] }]
const statement = { text: 'select 1', values: [] }

/** A connection that records its messages in order. */
interface Fake extends Link {
  asked: string[]
  isClosed: boolean
  isBroken: boolean
  /** Whether the connection answers nothing from now on. */
  isSilent: boolean
  /** The error of the next message. */
  failure: Error | undefined
}

function pool(size: number) {
  const made: Fake[] = []
  let refusal: Error | undefined
  const links = new WeakMap<Lease, Fake>()
  const created = createPool({
    size,
    waitMs: 5_000,
    unusedMs: 60_000,
    oldestMs: 600_000,
    idleMs: 10_000,
    transactionMs: 30_000,
    async open(statements) {
      if (refusal) throw refusal
      const ask = async <T>(text: string, answer: T): Promise<T> => {
        fake.asked.push(text)
        if (fake.isSilent) return new Promise(() => {})
        const { failure } = fake
        fake.failure = undefined
        if (failure) throw failure
        return answer
      }
      const result = { tag: 'SELECT 1', names: [], types: [], rows: [] }
      const fake: Fake = {
        asked: statements.map(({ text }) => text),
        isClosed: false,
        isBroken: false,
        isSilent: false,
        failure: undefined,
        renew: (command) => ask(`${command}, renewed`, undefined),
        send: ([first]) => ask(first!.text, { results: [] }),
        run: ({ text }) => ask(text, { result, transactionId: null, hasEnded: false }),
        commit: () => ask('COMMIT', 'COMMIT'),
        async close() {
          fake.isClosed = true
        },
      }
      made.push(fake)
      return { link: fake, results: [] }
    },
  })
  return {
    made,
    refuse(error: Error | undefined) {
      refusal = error
    },
    async lend(caller = 'somebody') {
      const asked = made.map((fake) => fake.asked.length)
      const { lease } = await created.lend(begin, caller)
      const link = made.find((fake, index) => fake.asked.length !== asked[index] && fake.asked.at(-1) === 'begin')
      links.set(lease, link!)
      return lease
    },
    linkOf: (lease: Lease) => links.get(lease)!,
    counts: () => created.counts(),
  }
}

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

describe('5.4 a connection', () => {
  it('is opened with the batch that begins, emptied when it comes back, and lent again', async () => {
    const { made, lend } = pool(2)
    await (await lend()).end('rollback')
    await lend()
    expect(made.map(({ asked }) => asked)).toEqual([['begin', 'rollback, renewed', 'begin']])
  })

  it('that cannot be emptied is closed, and there is room for another', async () => {
    const { made, lend, linkOf } = pool(1)
    const lease = await lend()
    linkOf(lease).failure = new Unavailable('cut')
    await lease.end('rollback')
    await lend()
    expect(made.map(({ isClosed }) => isClosed)).toEqual([true, false])
  })

  it('whose statement still runs is closed after a second: others wait for its place', async () => {
    const { made, lend, linkOf } = pool(1)
    const lease = await lend()
    linkOf(lease).isSilent = true
    lease.end('rollback')
    const next = lend()
    await vi.advanceTimersByTimeAsync(999)
    expect(made.map(({ isClosed }) => isClosed)).toEqual([false])
    await vi.advanceTimersByTimeAsync(1)
    await next
    expect(made.map(({ isClosed }) => isClosed)).toEqual([true, false])
  })

  it('that the server closed while it was unused is replaced within the same request', async () => {
    const { made, lend, linkOf } = pool(1)
    const lease = await lend()
    await lease.end('rollback')
    linkOf(lease).failure = new Unavailable('cut')
    await lend()
    expect(made.map(({ isClosed }) => isClosed)).toEqual([true, false])
  })

  it('that falls silent as it is lent costs this request, and no later one its place', async () => {
    const { lend, linkOf } = pool(1)
    const lease = await lend()
    await lease.end('rollback')
    linkOf(lease).isSilent = true
    const refused = expect(lend()).rejects.toThrow(Unavailable)
    await vi.advanceTimersByTimeAsync(5_000)
    await refused
    await lend()
  })

  it('whose statements Postgres refuses is kept: it is sound', async () => {
    const { made, lend, linkOf } = pool(1)
    const lease = await lend()
    await lease.end('rollback')
    linkOf(lease).failure = Object.assign(new SqlError('no such role'), { code: '22023' })
    await expect(lend()).rejects.toThrow('no such role')
    await vi.advanceTimersByTimeAsync(0)
    await lend()
    expect(made.length).toBe(1)
  })

  it('is closed after a minute without use, and after ten minutes whatever its use', async () => {
    const { made, lend, linkOf } = pool(4)
    const [one, other] = [await lend('one'), await lend('other')]
    await one.end('rollback')
    await vi.advanceTimersByTimeAsync(9_999)
    await other.end('rollback')
    await vi.advanceTimersByTimeAsync(50_000)
    expect([linkOf(one).isClosed, linkOf(other).isClosed]).toEqual([false, false])
    await vi.advanceTimersByTimeAsync(1)
    expect([linkOf(one).isClosed, linkOf(other).isClosed]).toEqual([true, false])
    for (let minute = 0; minute < 11; minute++) {
      await (await lend()).end('rollback')
      await vi.advanceTimersByTimeAsync(59_000)
    }
    expect(made.map(({ isClosed }) => isClosed)).toEqual([true, true])
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('5.7 a lease ends, whatever its holder does', () => {
  it('after 10 s without a statement: the connection is rolled back and lent again', async () => {
    const { lend, linkOf } = pool(1)
    const lease = await lend()
    await vi.advanceTimersByTimeAsync(9_999)
    await lease.run(statement)
    await vi.advanceTimersByTimeAsync(9_999)
    expect(linkOf(lease).asked).toEqual(['begin', 'select 1'])
    await vi.advanceTimersByTimeAsync(1)
    expect(linkOf(lease).asked).toEqual(['begin', 'select 1', 'rollback, renewed'])
    expect(linkOf(await lend())).toBe(linkOf(lease))
  })

  it('after 30 s in all, however busy it is', async () => {
    const { lend, linkOf } = pool(1)
    const lease = await lend()
    for (let seconds = 0; seconds < 29; seconds++) {
      await lease.run(statement)
      await vi.advanceTimersByTimeAsync(1_000)
    }
    expect(linkOf(lease).asked.at(-1)).toBe('select 1')
    await vi.advanceTimersByTimeAsync(1_000)
    expect(linkOf(lease).asked.at(-1)).toBe('rollback, renewed')
  })

  it('not while a statement runs, for that has a limit of its own', async () => {
    const { lend, linkOf } = pool(1)
    const lease = await lend()
    linkOf(lease).isSilent = true
    lease.run(statement).catch(() => {})
    await vi.advanceTimersByTimeAsync(20_000)
    expect(linkOf(lease).isClosed).toBe(false)
    await vi.advanceTimersByTimeAsync(11_000)
    expect(linkOf(lease).isClosed).toBe(true)
  })

  it.each(['run', 'commit'] as const)(
    'and then refuses to %s: no lost transaction is taken for a kept one',
    async (what) => {
      const { lend, linkOf } = pool(1)
      const lease = await lend()
      await vi.advanceTimersByTimeAsync(10_000)
      const asked = [...linkOf(lease).asked]
      await expect(what === 'run' ? lease.run(statement) : lease.commit()).rejects.toThrow('it lay idle for 10000 ms')
      expect(await lease.end('commit')).toBeInstanceOf(Unavailable)
      expect(linkOf(lease).asked).toEqual(asked)
    },
  )

  it('once: a connection that was given back is not given back again', async () => {
    const { lend, linkOf } = pool(1)
    const lease = await lend()
    await lease.end('commit')
    const next = await lend('another')
    await lease.end('rollback')
    expect(linkOf(next).asked).toEqual(['begin', 'commit, renewed', 'begin'])
  })
})

describe('more requests than connections', () => {
  it('of one caller wait in their order', async () => {
    const { made, lend } = pool(1)
    const lease = await lend()
    const order: string[] = []
    const waiter = async (name: string) => {
      const lent = await lend()
      order.push(name)
      return lent
    }
    const [first, second] = [waiter('first'), waiter('second')]
    await lease.end('rollback')
    await (await first).end('rollback')
    await second
    expect([order, made.length]).toEqual([['first', 'second'], 1])
  })

  it('wait five seconds, and no longer', async () => {
    const { lend, linkOf } = pool(1)
    const lease = await lend()
    const refused = expect(lend()).rejects.toThrow('no connection was free for 5000 ms: the pool has 1')
    await vi.advanceTimersByTimeAsync(5_000)
    await refused
    await lease.end('rollback')
    expect(linkOf(await lend())).toBe(linkOf(lease))
  })

  it('get the room of one that broke', async () => {
    const { made, lend, linkOf } = pool(1)
    const lease = await lend()
    const next = lend()
    linkOf(lease).failure = new Unavailable('cut')
    await lease.end('rollback')
    await next
    expect(made.length).toBe(2)
  })

  it('a failure to connect takes no room', async () => {
    const { lend, refuse } = pool(1)
    refuse(new Unavailable('refused'))
    await expect(Promise.all([lend(), lend(), lend()])).rejects.toThrow('refused')
    refuse(undefined)
    await lend()
  })

  it('5.7 the last quarter is lent only to callers that hold none', async () => {
    const { lend } = pool(8)
    const greedy = await Promise.all(Array.from({ length: 6 }, () => lend('greedy')))
    let isServed = false
    lend('greedy').then(() => (isServed = true))
    await vi.advanceTimersByTimeAsync(0)
    expect(isServed).toBe(false)
    await lend('first of its own')
    await lend('another')
    await greedy[0]!.end('rollback')
    await vi.advanceTimersByTimeAsync(0)
    expect(isServed).toBe(false) // One connection is free, and is kept for callers that hold none.
    await greedy[1]!.end('rollback')
    await greedy[2]!.end('rollback')
    await vi.advanceTimersByTimeAsync(0)
    expect(isServed).toBe(true)
  })

  it('5.7 waiting callers are served in turn, not by their number of requests', async () => {
    const { lend } = pool(1)
    let current = await lend('first')
    const order: string[] = []
    for (const caller of ['a', 'a', 'a', 'b', 'c', 'a', 'b']) {
      lend(caller).then((lease) => {
        order.push(caller)
        current = lease
      })
    }
    for (let turn = 0; turn < 7; turn++) {
      await current.end('rollback')
      await vi.advanceTimersByTimeAsync(0)
    }
    expect(order).toEqual(['a', 'b', 'c', 'a', 'b', 'a', 'a'])
  })

  it('a caller whose requests wait already is not overtaken by its own next one', async () => {
    const { lend } = pool(4)
    const held = await Promise.all([lend('a'), lend('a'), lend('a')])
    const order: number[] = []
    lend('a').then(() => order.push(1))
    const release = held[0]!.end('rollback')
    lend('a').then(() => order.push(2))
    await release
    await vi.advanceTimersByTimeAsync(0)
    expect(order).toEqual([1])
  })
})

describe('the counts of a pool', () => {
  it('tell open connections from unused ones, and count the requests that wait', async () => {
    const { lend, counts } = pool(2)
    expect(counts()).toEqual({ size: 2, open: 0, unused: 0, waiting: 0 })
    const [first, second] = [await lend('one'), await lend('two')]
    const waiting = [lend('three'), lend('three'), lend('four')]
    await vi.advanceTimersByTimeAsync(0)
    expect(counts()).toEqual({ size: 2, open: 2, unused: 0, waiting: 3 })
    await first.end('rollback')
    await second.end('rollback')
    const leases = await Promise.all(waiting.slice(0, 1).concat(waiting[2]!))
    expect(counts()).toEqual({ size: 2, open: 2, unused: 0, waiting: 1 })
    for (const lease of leases) await lease.end('rollback')
    await (await waiting[1]!).end('rollback')
    expect(counts()).toEqual({ size: 2, open: 2, unused: 2, waiting: 0 })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(counts()).toEqual({ size: 2, open: 0, unused: 0, waiting: 0 })
  })

  it('forget a connection that could not be opened', async () => {
    const { lend, refuse, counts } = pool(1)
    refuse(new Unavailable('refused'))
    await expect(lend()).rejects.toThrow(Unavailable)
    expect(counts()).toEqual({ size: 1, open: 0, unused: 0, waiting: 0 })
  })
})
