/** The key set, with a clock that the test moves (contract 3.2). */
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createKeySet, type KeySource } from '../../runtime/identity/keys.ts'
import { createIssuer } from '../support/tokens.ts'

const [first, second] = [await createIssuer('key-1'), await createIssuer('key-2')]

/** An endpoint that the test can break, and that counts its requests. */
function endpoint(keys: unknown[] = [first.jwk]) {
  const state = { now: 1_000_000, loads: 0, keys, isDown: false, failures: 0 }
  const pending: Promise<unknown>[] = []
  const source: KeySource = {
    async load() {
      state.loads++
      await Promise.resolve()
      if (state.isDown) throw new Error('down')
      return JSON.stringify({ keys: state.keys })
    },
    waitUntil: (promise) => pending.push(promise),
    failed: () => state.failures++,
  }
  const set = createKeySet(() => state.now)
  const find = async (kid?: string) => (await set.find(kid, source)).map((key) => key.kid)
  return { state, source, set, find, settled: () => Promise.all(pending) }
}

describe('one refresh at a time, one for each window', () => {
  it('a hundred cold requests make one fetch', async () => {
    const { state, find } = endpoint()
    const found = await Promise.all(Array.from({ length: 100 }, () => find('key-1')))
    expect(found).toEqual(Array(100).fill(['key-1']))
    expect(state.loads).toBe(1)
  })

  it('ten thousand unknown kids make none inside the window, and one after it', async () => {
    const { state, find } = endpoint()
    await find('key-1')
    for (let i = 0; i < 10_000; i++) expect(await find(`unknown-${i}`)).toEqual([])
    expect(state.loads).toBe(1)
    state.now += 300_000
    await Promise.all(Array.from({ length: 100 }, (_, i) => find(`unknown-${i}`)))
    expect(state.loads).toBe(2)
  })

  it('a known kid under an old set is served at once, and the refresh runs in the background', async () => {
    const { state, find, settled } = endpoint()
    await find('key-1')
    state.now += 301_000
    state.keys = [first.jwk, second.jwk]
    expect(await find('key-1')).toEqual(['key-1'])
    await settled()
    expect(state.loads).toBe(2)
    expect(await find('key-2')).toEqual(['key-2'])
  })

  it('a new kid waits for the window’s refresh', async () => {
    const { state, find } = endpoint()
    await find('key-1')
    state.keys = [second.jwk]
    expect(await find('key-2')).toEqual([])
    state.now += 300_000
    expect(await find('key-2')).toEqual(['key-2'])
    expect(await find('key-1')).toEqual([])
  })

  it('a signature that failed renews a set that is older than its window, and no younger one', async () => {
    const { state, find, set, source } = endpoint()
    await find('key-1')
    expect(await set.renew(source)).toBe(false)
    state.now += 301_000
    expect(await set.renew(source)).toBe(true)
    expect(state.loads).toBe(2)
  })
})

describe('an outage', () => {
  it('keeps the old keys, however long it lasts, with one try for each window', async () => {
    const { state, find, settled } = endpoint()
    await find('key-1')
    state.isDown = true
    for (let minute = 0; minute < 60; minute++) {
      state.now += 60_000
      expect(await find('key-1')).toEqual(['key-1'])
      await settled()
    }
    expect(state.loads - 1).toBeLessThanOrEqual(12)
    expect(state.failures).toBe(state.loads - 1)
  })

  it.each<[string, () => Promise<string>]>([
    ['an error', () => Promise.reject(new Error('down'))],
    ['no JSON', async () => '<!doctype html>'],
    ['null', async () => 'null'],
    ['an empty set', async () => '{"keys":[]}'],
    ['more than 512 KiB', async () => `${JSON.stringify({ keys: [first.jwk] })}${' '.repeat(512 * 1024)}`],
  ])('of an hour with %s: no wrong answer, whatever arrives, and 300 s between two tries', async (_what, load) => {
    const { state, set, source, find, settled } = endpoint()
    await find('key-1')
    const tries = [state.now]
    source.load = () => {
      tries.push(state.now)
      return load()
    }
    for (let second = 0; second < 3600; second += 10) {
      state.now += 10_000
      expect(await find('key-1')).toEqual(['key-1'])
      expect(await find('key-2')).toEqual([])
      expect(await set.renew(source)).toBe(false)
      await settled()
    }
    expect(tries).toHaveLength(1 + 12)
    expect(tries.slice(1).every((time, index) => time - tries[index]! >= 300_000)).toBe(true)
    source.load = async () => JSON.stringify({ keys: [second.jwk] })
    state.now += 300_000
    expect(await find('key-2')).toEqual(['key-2'])
    expect(await find('key-1')).toEqual([])
  })

  it('of a seeded set, whose address never answered, is no other', async () => {
    const { state, source, settled } = endpoint()
    const set = createKeySet(() => state.now, JSON.stringify({ keys: [first.jwk] }))
    state.isDown = true
    for (let minute = 0; minute < 20; minute++) {
      expect(await set.find('key-1', source)).toHaveLength(1)
      await settled()
      state.now += 60_000
    }
    expect(state.loads).toBe(4)
  })

  it('of a set that was never fetched is tried again after 1, 2, 4 … 30 seconds', async () => {
    const { state, find } = endpoint()
    state.isDown = true
    const tries: number[] = []
    const began = state.now
    for (let second = 0; second < 100; second++) {
      const before = state.loads
      await find('key-1')
      if (state.loads > before) tries.push((state.now - began) / 1000)
      state.now += 1000
    }
    expect(tries).toEqual([0, 1, 3, 7, 15, 31, 61, 91])
    state.isDown = false
    state.now += 30_000
    expect(await find('key-1')).toEqual(['key-1'])
  })
})

describe('an address that never answers', () => {
  it('holds a request for five seconds, and no longer', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const source: KeySource = { load: () => new Promise(() => {}), waitUntil() {}, failed() {} }
    let found: unknown
    void createKeySet(Date.now)
      .find('key-1', source)
      .then((keys) => {
        found = keys
      })
    await vi.advanceTimersByTimeAsync(4_999)
    expect(found).toBe(undefined)
    await vi.advanceTimersByTimeAsync(1)
    expect(found).toEqual([])
  })
})

describe('a clock that is set back', () => {
  it.each([60_000, 3_600_000])(
    'by %i ms: no flood of tries, and what is due comes within two windows',
    async (back) => {
      const { state, find, settled } = endpoint()
      await find('key-1')
      state.now -= back
      state.keys = [second.jwk]
      for (let i = 0; i < 100; i++) await find(`unknown-${i}`)
      expect(state.loads).toBeLessThanOrEqual(2)
      for (let second = 0; second < 600; second += 10) {
        state.now += 10_000
        await find('key-1')
        await settled()
      }
      expect(await find('key-2')).toEqual(['key-2'])
      expect(await find('key-1')).toEqual([])
      expect(state.loads).toBeLessThanOrEqual(4)
    },
  )

  it('an hour before a set that was never fetched is tried again: it is tried all the same', async () => {
    const { state, find } = endpoint()
    state.isDown = true
    await find('key-1')
    state.isDown = false
    state.now -= 3_600_000
    expect(await find('key-1')).toEqual(['key-1'])
  })

  it('during a refresh that nobody ended: its lease ends too', async () => {
    const { state, source, find } = endpoint()
    const { load } = source
    await find('key-1')
    state.now += 300_000
    source.load = () => new Promise(() => {})
    void find('key-2')
    await Promise.resolve()
    state.now -= 3_600_000
    source.load = load
    state.keys = [second.jwk]
    expect(await find('key-2')).toEqual(['key-2'])
  })
})

describe('the set itself', () => {
  it('junk entries are skipped, not fatal', async () => {
    const junk = [
      null,
      1,
      {},
      { kty: 'RSA' },
      { ...first.jwk, kty: 'RSA' },
      { ...first.jwk, crv: 'P-384' },
      { ...first.jwk, x: 'AAAA' },
      { ...first.jwk, use: 'enc' },
      { ...first.jwk, alg: 'ES384' },
      { ...first.jwk, key_ops: ['sign'] },
      { ...first.jwk, x: [first.jwk.x] },
    ]
    const { find } = endpoint([...junk, second.jwk])
    expect(await find()).toEqual(['key-2'])
  })

  it('without a kid every key is returned', async () => {
    const { find } = endpoint([first.jwk, second.jwk])
    expect(await find()).toEqual(['key-1', 'key-2'])
  })

  it('an empty set is a failed refresh', async () => {
    const { state, find } = endpoint()
    await find('key-1')
    state.keys = []
    state.now += 300_000
    expect(await find('other')).toEqual([])
    expect(await find('key-1')).toEqual(['key-1'])
    expect(state.failures).toBe(1)
  })

  it('a seed serves without a fetch, and is renewed in the background', async () => {
    let loads = 0
    const set = createKeySet(() => 0, JSON.stringify({ keys: [first.jwk] }))
    const source: KeySource = {
      async load() {
        loads++
        return JSON.stringify({ keys: [second.jwk] })
      },
      waitUntil() {},
      failed() {},
    }
    expect((await set.find('key-1', source)).map(({ kid }) => kid)).toEqual(['key-1'])
    expect(loads).toBe(1)
  })

  it.each(['{"keys":[]}', '{"keys":[{"kty":"RSA"}]}', '{}', 'no JSON'])(
    'a seed without a key (%s) is none: the address is tried again after a second, not a window',
    async (seed) => {
      const { state, source } = endpoint()
      const set = createKeySet(() => state.now, seed)
      state.isDown = true
      expect(await set.find('key-1', source)).toEqual([])
      expect([state.loads, state.failures]).toEqual([1, 2])
      state.isDown = false
      state.now += 1000
      expect(await set.find('key-1', source)).toHaveLength(1)
    },
  )

  it('a seed waits for nothing: not for an address that never answers, and no timer runs', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const set = createKeySet(() => 0, JSON.stringify({ keys: [first.jwk] }))
    const source: KeySource = { load: () => new Promise(() => {}), waitUntil() {}, failed() {} }
    expect(await set.find('key-1', source)).toHaveLength(1)
    expect(vi.getTimerCount()).toBe(0)
  })
})
