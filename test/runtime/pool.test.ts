/** 5.4 connections that outlive a request: who gets one, when it is made, and when it is closed. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Link } from '../../runtime/database/driver.ts'
import { createPool } from '../../runtime/database/pool.ts'
import { Unavailable } from '../../runtime/database/unavailable.ts'

const begin = [{ text: 'begin', values: [] }]

/** What a connection is asked, in order. */
interface Fake extends Link {
  asked: string[]
  isClosed: boolean
  isBroken: boolean
  /** Answers nothing from now on. */
  isSilent: boolean
  /** Of the next flight. */
  failure: Error | undefined
}

function pool(size: number) {
  const made: Fake[] = []
  let refusal: Error | undefined
  const flown = { results: [], isInTransaction: true }
  const created = createPool({
    size,
    waitMs: 5_000,
    idleMs: 60_000,
    oldestMs: 600_000,
    async open(statements) {
      if (refusal) throw refusal
      const fake: Fake = {
        asked: statements.map(({ text }) => text),
        isClosed: false,
        isBroken: false,
        isSilent: false,
        failure: undefined,
        async renew(command) {
          await fake.fly([{ text: `${command}, renewed`, values: [] }])
        },
        async fly([first]) {
          fake.asked.push(first!.text)
          if (fake.isSilent) return new Promise(() => {})
          const { failure } = fake
          fake.failure = undefined
          if (failure) throw failure
          return flown
        },
        async close() {
          fake.isClosed = true
        },
      }
      made.push(fake)
      return { link: fake, ...flown }
    },
  })
  return {
    made,
    refuse(error: Error | undefined) {
      refusal = error
    },
    take: async () => (await created.take(begin)).link as Fake,
    give: (link: Link) => created.give(link, 'rollback'),
  }
}

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

describe('a connection', () => {
  it('is made in the flight that begins, made as new when it comes back, and taken again', async () => {
    const { made, take, give } = pool(2)
    await give(await take())
    await take()
    expect(made.map(({ asked }) => asked)).toEqual([['begin', 'rollback, renewed', 'begin']])
  })

  it('that cannot be emptied is closed, and there is room for another', async () => {
    const { made, take, give } = pool(1)
    const link = await take()
    link.failure = new Unavailable('cut')
    await give(link)
    await take()
    expect(made.map(({ isClosed }) => isClosed)).toEqual([true, false])
  })

  it('whose statement still runs is closed after a second: nobody waits ten for somebody who has left', async () => {
    const { made, take, give } = pool(1)
    const link = await take()
    link.isSilent = true
    give(link)
    const next = take()
    await vi.advanceTimersByTimeAsync(999)
    expect(made.map(({ isClosed }) => isClosed)).toEqual([false])
    await vi.advanceTimersByTimeAsync(1)
    await next
    expect(made.map(({ isClosed }) => isClosed)).toEqual([true, false])
  })

  it('that broke as it lay idle is replaced within the same request', async () => {
    const { made, take, give } = pool(1)
    const link = await take()
    await give(link)
    link.failure = new Unavailable('cut')
    expect(await take()).toBe(made[1])
    expect(made.map(({ isClosed }) => isClosed)).toEqual([true, false])
  })

  it('that falls silent as it is taken costs this request, and no later one its place', async () => {
    const { take, give } = pool(1)
    const link = await take()
    await give(link)
    link.isSilent = true
    const refused = expect(take()).rejects.toThrow(Unavailable)
    await vi.advanceTimersByTimeAsync(5_000)
    await refused
    await take()
  })

  it('whose statements Postgres refuses is kept: it is sound', async () => {
    const { made, take, give } = pool(1)
    const link = await take()
    await give(link)
    link.failure = Object.assign(new Error('no such role'), { code: '22023' })
    await expect(take()).rejects.toThrow('no such role')
    await vi.advanceTimersByTimeAsync(0)
    expect(await take()).toBe(made[0])
  })

  it('is closed after a minute without use, and after ten minutes whatever its use', async () => {
    const { made, take, give } = pool(2)
    const [one, other] = [await take(), await take()]
    await give(one)
    await vi.advanceTimersByTimeAsync(59_999)
    expect(one.isClosed).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(one.isClosed).toBe(true)
    await vi.advanceTimersByTimeAsync(540_000)
    await give(other)
    expect(made.map(({ isClosed }) => isClosed)).toEqual([true, true])
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('more requests than connections', () => {
  it('wait in their order', async () => {
    const { made, take, give } = pool(1)
    const link = await take()
    const order: string[] = []
    const waiter = async (name: string) => {
      const taken = await take()
      order.push(name)
      return taken
    }
    const [first, second] = [waiter('first'), waiter('second')]
    await give(link)
    await give(await first)
    await second
    expect([order, made.length]).toEqual([['first', 'second'], 1])
  })

  it('wait five seconds, and no longer', async () => {
    const { take, give } = pool(1)
    const link = await take()
    const refused = expect(take()).rejects.toThrow('all 1 connections were in use for 5000 ms')
    await vi.advanceTimersByTimeAsync(5_000)
    await refused
    await give(link)
    expect(await take()).toBe(link)
  })

  it('get the room of one that broke', async () => {
    const { made, take, give } = pool(1)
    const link = await take()
    const next = take()
    link.failure = new Unavailable('cut')
    await give(link)
    expect(await next).toBe(made[1])
  })

  it('a failure to connect takes no room', async () => {
    const { take, refuse } = pool(1)
    refuse(new Unavailable('refused'))
    await expect(Promise.all([take(), take(), take()])).rejects.toThrow('refused')
    refuse(undefined)
    await take()
  })
})
