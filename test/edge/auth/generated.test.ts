/** About two thousand hostile requests over every operation of the auth module: no 5xx, no torn log, nothing written by a refusal. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { limitsDefaults } from '../../../src/wire/settings.ts'
import { hostileInputs } from '../../support/hostile-inputs.ts'
import { administer } from '../../support/management.ts'
import { enable, mockIssuers } from '../../support/providers.ts'
import { type RawAnswer, sendRaw } from '../../support/raw.ts'
import { useStack } from '../../support/stack.ts'
import { administered, type Operation, ownOperations } from '../../support/surface.ts'

/** Another seed gives other requests: `HOSTILE_SEED=2 npm test -- test/edge/auth/generated.test.ts`. */
const seed = Number(process.env['HOSTILE_SEED'] ?? 1)

const issuers = mockIssuers()
const shop = useStack('examples/orders', undefined, { auth: issuers.bindings })
const admin = administer(shop)

/** Operations that change how the others answer come last. */
const changesOthers = ({ name, method }: Operation) => method !== 'GET' && /^(?:settings|providers|keys)\./.test(name)
const all = [...ownOperations, ...administered]
const inputs = hostileInputs([...all.filter((one) => !changesOthers(one)), ...all.filter(changesOthers)], seed, 16)

/** Attempts are counted and audited although they are refused. Tokens are made later, when an earlier message is sent. */
const uncounted = new Set(['auth.rate_limits', 'auth.audit', 'stack.audit', 'auth.one_time_tokens'])
let counting = ''
const rowCounts = async () =>
  Object.fromEntries((await shop.sql<{ name: string; rows: number }>(counting)).map(({ name, rows }) => [name, rows]))
const statuses: Record<number, number> = {}
let token = ''
let unchanged = 0

beforeAll(async () => {
  for (const issuer of issuers.all) await enable(shop, issuer)
  await admin.call('POST', '/providers/phone', { enabled: true })
  const wide = { attempts: 10_000, seconds: 1 }
  const rate_limits = Object.fromEntries(Object.keys(limitsDefaults).map((name) => [name, wide]))
  expect((await admin.call('PUT', '/settings', { rate_limits })).status).toBe(200)
  const tables = await shop.sql<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname in ('auth', 'stack', 'webhooks', 'public') order by 1`,
  )
  counting = tables
    .filter(({ name }) => !uncounted.has(name))
    .map(({ name }) => `select '${name}' as name, count(*)::int as rows from ${name}`)
    .join(' union all ')
})
afterAll(() => issuers.close())

async function signedIn(): Promise<string> {
  if (token === '' || (await shop.call('/auth/user', { token })).status !== 200) token = (await shop.signUp()).token
  return token
}

describe(`seed ${seed}`, () => {
  it.each(inputs.map(([operation, own]) => [`${operation.method} ${operation.path}`, operation, own] as const))(
    '%s',
    async (_title, { method, path }, own) => {
      const bearer = await signedIn()
      const key = shop.stack.record.service_role_key
      const credential: [string, string] = /^\/(?:v1\/management|admin)\//.test(path)
        ? ['apikey', key]
        : ['authorization', `Bearer ${bearer}`]
      for (let at = 0; at < own.length; at += 8) {
        const before = await rowCounts()
        const answers = await Promise.all(
          own.slice(at, at + 8).map(async ({ name, headers, ...input }): Promise<[string, RawAnswer]> => {
            const hasOwn = headers.some(([one]) => one === credential[0])
            const sent = hasOwn ? headers : [credential, ...headers]
            return [name, await sendRaw({ url: shop.url, method, ...input, headers: sent })]
          }),
        )
        for (const [name, { status, text, headers }] of answers) {
          statuses[status] = (statuses[status] ?? 0) + 1
          expect([name, status < 500, text]).toEqual([name, true, text])
          if (text !== '' && /json/.test(headers.get('content-type') ?? '')) JSON.parse(text)
        }
        if (answers.some(([, { status }]) => status < 400)) continue
        expect(await rowCounts()).toEqual(before)
        unchanged += 1
      }
    },
  )

  it('reaches the routes, and is refused more often than not', () => {
    const sum = Object.values(statuses).reduce((total, count) => total + count, 0)
    expect(sum).toBeGreaterThan(1_900)
    expect([statuses[429] ?? 0, (statuses[401] ?? 0) / sum < 0.2]).toEqual([0, true])
    expect(unchanged).toBeGreaterThan(50)
  })

  it('leaves each line of the log one JSON object, and none of them an error', () => {
    const torn = shop.log.filter((line) => typeof line['level'] !== 'string')
    const failed = shop.log.filter((line) => line['level'] === 'error')
    expect([torn, failed]).toEqual([[], []])
  })
})
