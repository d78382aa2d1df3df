/** Keys that a rotation has put in the place of the bindings: which one signs, and what a refusal does (contract 9.15). */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Call } from '../../runtime/call.ts'

let keys: typeof import('../../runtime/rotated-keys.ts')

beforeEach(async () => {
  vi.useFakeTimers()
  vi.resetModules() // an isolate of its own for each test
  keys = await import('../../runtime/rotated-keys.ts')
})
afterEach(() => {
  vi.useRealTimers()
})

const env = { CLAIMS_KEY: 'bound' }

function beginCall() {
  const lines: string[] = []
  const waited: Promise<unknown>[] = []
  const call = {
    env,
    log: (_level: string, line: string) => lines.push(line),
    waitUntil: (work: Promise<unknown>) => waited.push(work),
  }
  return { call: call as unknown as Call, lines, waited }
}

describe('9.15 the key that signs', () => {
  it('is the binding, and the rotated one once it is known', () => {
    expect(keys.newestKey(env, 'CLAIMS_KEY')).toBe('bound')
    keys.keepRotatedKeys({ CLAIMS_KEY: 'rotated' })
    expect([keys.newestKey(env, 'CLAIMS_KEY'), keys.newestKey(env, 'SERVICE_ROLE_KEY')]).toEqual(['rotated', undefined])
  })
})

describe('9.15 a refused key', () => {
  it('has no newer one where nobody knows any', async () => {
    expect(await keys.newerKey(beginCall().call, 'CLAIMS_KEY', 'bound')).toBeUndefined()
  })

  it('is asked for, and the call is tried with another key alone', async () => {
    keys.renewFromMirror(async () => keys.keepRotatedKeys({ CLAIMS_KEY: 'rotated' }))
    expect(await keys.newerKey(beginCall().call, 'CLAIMS_KEY', 'bound')).toBe('rotated')
    expect(await keys.newerKey(beginCall().call, 'CLAIMS_KEY', 'rotated')).toBeUndefined()
  })

  it('is not asked for where a newer one came meanwhile', async () => {
    let asked = 0
    keys.renewFromMirror(async () => void asked++)
    keys.keepRotatedKeys({ CLAIMS_KEY: 'rotated' })
    expect(await keys.newerKey(beginCall().call, 'CLAIMS_KEY', 'bound')).toBe('rotated')
    expect(asked).toBe(0)
  })

  it('holds its request for two seconds where nobody answers', async () => {
    keys.renewFromMirror(() => new Promise(() => {}))
    const { call, waited } = beginCall()
    let newer: unknown = 'waiting'
    void keys.newerKey(call, 'CLAIMS_KEY', 'bound').then((key) => {
      newer = key
    })
    await vi.advanceTimersByTimeAsync(1_999)
    expect(newer).toBe('waiting')
    await vi.advanceTimersByTimeAsync(1)
    expect([newer, waited.length]).toEqual([undefined, 1])
  })
})

describe('9.15 the worker that has the keys', () => {
  const method = { current: {} } as Parameters<typeof keys.renewFrom>[0]
  const now = () => vi.setSystemTime(Date.now() + 5_001)

  it('asks itself once in five seconds, behind the request', async () => {
    let asked = 0
    keys.renewFrom(method, async () => `rotated ${++asked}`)
    const first = beginCall()
    keys.keepFresh(first.call)
    keys.keepFresh(first.call)
    expect(keys.newestKey(env, 'CLAIMS_KEY')).toBe('bound')
    await Promise.all(first.waited)
    expect([asked, keys.newestKey(env, 'CLAIMS_KEY')]).toEqual([1, 'rotated 1'])
    now()
    const later = beginCall()
    keys.keepFresh(later.call)
    await Promise.all(later.waited)
    expect(keys.newestKey(env, 'CLAIMS_KEY')).toBe('rotated 2')
  })

  it('keeps the newest of two answers, whichever comes last', async () => {
    const answers: ((key: string) => void)[] = []
    keys.renewFrom(method, () => new Promise((resolve) => answers.push(resolve)))
    const { call, waited } = beginCall()
    keys.keepFresh(call)
    now()
    keys.keepFresh(call)
    answers[1]!('new')
    await waited[1]
    answers[0]!('old')
    await waited[0]
    expect(keys.newestKey(env, 'CLAIMS_KEY')).toBe('new')
  })

  it('keeps the key that it knows where its own read fails, and says so', async () => {
    keys.keepRotatedKeys({ CLAIMS_KEY: 'rotated' })
    keys.renewFrom(method, () => Promise.reject(new Error('no connection')))
    const { call, waited, lines } = beginCall()
    keys.keepFresh(call)
    await Promise.all(waited)
    expect([keys.newestKey(env, 'CLAIMS_KEY'), lines.length]).toEqual(['rotated', 1])
  })

  it('is not asked in the background where the mirror of the vault renews', () => {
    let asked = 0
    keys.renewFromMirror(async () => void asked++)
    keys.keepFresh(beginCall().call)
    expect(asked).toBe(0)
  })
})
