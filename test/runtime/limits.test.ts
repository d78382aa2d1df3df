/** The requests that a rate limit counts, and the answer when it cannot be read, as plain data (contract 2.7). */
import { expect, it } from 'vitest'
import type { Call } from '../../runtime/call.ts'
import type { Identity } from '../../runtime/identity/identify.ts'
import { limitRate } from '../../runtime/limits.ts'
import type { RateLimit } from '../../runtime/table.ts'

const limit: RateLimit = { binding: 'B', requests: 1, seconds: 10, by: 'user', key: 'GET /a' }
const signedIn = { claims: { sub: 'usr_1', exp: 1 }, role: 'authenticated' } as Identity
const anonymous = { claims: { sub: 'usr_2', exp: 1 }, role: 'anon' } as Identity

async function asked(env: Record<string, unknown>, rule = limit, identity: Identity | null = signedIn) {
  const request = new Request('http://x/a', { headers: { 'cf-connecting-ip': '192.0.2.7' } })
  const call = { env, request, log: () => {} } as unknown as Call
  return limitRate(call, rule, identity).then(
    () => 'passed',
    (error: { status: number; details: { headers?: object } }) => [error.status, error.details.headers],
  )
}

it('a user counts as such, everybody else by address', async () => {
  const keys: string[] = []
  const env = { B: { limit: async ({ key }: { key: string }) => ({ success: keys.push(key) > 0 }) } }
  expect(await asked(env)).toBe('passed')
  await asked(env, limit, anonymous)
  await asked(env, limit, null)
  await asked(env, { ...limit, by: 'ip' })
  expect(keys).toEqual(['GET /a user usr_1', ...Array(3).fill('GET /a ip 192.0.2.7')])
})

it('one request too many is 429, with the period', async () => {
  const env = { B: { limit: async () => ({ success: false }) } }
  expect(await asked(env)).toEqual([429, { 'retry-after': '10' }])
})

it.each<[string, Record<string, unknown>]>([
  ['a binding that is not there', {}],
  ['one that is something else', { B: 'text' }],
  ['one that fails', { B: { limit: () => Promise.reject(new Error('down')) } }],
])('%s is 503: what cannot be read stays shut', async (_what, env) => {
  expect(await asked(env)).toEqual([503, undefined])
})
