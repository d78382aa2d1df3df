/** The mirror of the vault: its age, the requests that wait for it, and the values that serve meanwhile (contract 9.9). */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Call } from '../../runtime/call.ts'
import type { Env } from '../../runtime/env.ts'
import { createMirror } from '../../runtime/mirror.ts'
import type { MirroredSecrets } from '../../src/wire/secrets.ts'

function stack(bindings: Env = {}) {
  const asked: (string | null)[] = []
  const lines: string[] = []
  let answer: () => Promise<MirroredSecrets | null> = async () => null
  const env: Env = {
    ...bindings,
    AUTH: {
      mirrorSecrets(known: string | null) {
        asked.push(known)
        return answer()
      },
    },
  }
  const mirror = createMirror()
  const call = {
    env,
    waitUntil: () => {},
    log: (_level: string, message: string) => lines.push(message),
  } as unknown as Call
  return {
    env,
    asked,
    lines,
    request: () => mirror(call),
    answers(next: typeof answer) {
      answer = next
    },
    holds: (revision: string, entries: Record<string, string>) => {
      answer = async () => ({ revision, keys: {}, entries })
    },
  }
}

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
  delete process.env['MIRRORED']
})

it('is asked for once in five seconds, and only for what is new', async () => {
  const { env, asked, request, holds, answers } = stack()
  holds('1', { MIRRORED: 'a' })
  await Promise.all([request(), request(), request()])
  expect([env['MIRRORED'], process.env['MIRRORED'], asked]).toEqual(['a', 'a', [null]])
  await vi.advanceTimersByTimeAsync(4_999)
  expect(request()).toBe(undefined)
  await vi.advanceTimersByTimeAsync(1)
  answers(async () => null)
  await request()
  expect([env['MIRRORED'], asked]).toEqual(['a', [null, '1']])
})

it('what left the vault leaves the environment, and a binding stays as it is', async () => {
  const { env, request, holds } = stack({ BOUND: 'bound' })
  holds('1', { MIRRORED: 'a', BOUND: 'b' })
  await request()
  expect([env['MIRRORED'], env['BOUND']]).toEqual(['a', 'bound'])
  await vi.advanceTimersByTimeAsync(5_000)
  holds('2', {})
  await request()
  expect(['MIRRORED' in env, 'MIRRORED' in process.env, env['BOUND']]).toEqual([false, false, 'bound'])
})

it('an auth worker that is silent holds a request for a second, then the last known serve', async () => {
  const { env, asked, request, holds, answers } = stack()
  holds('1', { MIRRORED: 'a' })
  await request()
  await vi.advanceTimersByTimeAsync(5_000)
  answers(() => new Promise(() => {}))
  let isServed = false
  const waiting = request()!.then(() => {
    isServed = true
  })
  await vi.advanceTimersByTimeAsync(999)
  expect(isServed).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  await waiting
  expect([env['MIRRORED'], asked.length]).toEqual(['a', 2])
})

it('an answer that comes after a newer one is too late', async () => {
  const { env, asked, request, holds, answers } = stack()
  holds('1', { MIRRORED: 'old' })
  await request()
  const { promise: late, resolve } = Promise.withResolvers<MirroredSecrets>()
  answers(() => late)
  await vi.advanceTimersByTimeAsync(5_000)
  request()
  await vi.advanceTimersByTimeAsync(5_000)
  holds('3', { MIRRORED: 'new' })
  await request()
  resolve({ revision: '2', keys: {}, entries: { MIRRORED: 'between' } })
  await vi.advanceTimersByTimeAsync(5_000)
  await request()
  expect([env['MIRRORED'], asked.at(-1)]).toEqual(['new', '3'])
})

it('one that fails is said, and asked again after five seconds; where nothing was ever known, after one', async () => {
  const { env, asked, lines, request, holds, answers } = stack()
  answers(() => Promise.reject(new Error('gone')))
  await request()
  await vi.advanceTimersByTimeAsync(999)
  expect([request(), asked.length, lines.length]).toEqual([undefined, 1, 1])
  await vi.advanceTimersByTimeAsync(1)
  holds('1', { MIRRORED: 'a' })
  await request()
  expect(env['MIRRORED']).toBe('a')
  await vi.advanceTimersByTimeAsync(5_000)
  answers(() => Promise.reject(new Error('gone')))
  await request()
  await vi.advanceTimersByTimeAsync(4_999)
  expect([request(), env['MIRRORED'], asked.length, lines.length]).toEqual([undefined, 'a', 3, 2])
})

it('where there is no auth worker nobody waits', () => {
  const { env, request } = stack()
  delete env['AUTH']
  expect(request()).toBe(undefined)
})
