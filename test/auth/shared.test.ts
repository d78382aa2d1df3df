/** What every feature of the auth module shares: bodies, fields, lists, and what a client claims of itself (contract 6.2, 9). */
import * as v from 'valibot'
import { describe, expect, it, vi } from 'vitest'

// WebAssembly is compiled by the worker's bundler
vi.mock('../../src/auth/passwords/argon2.ts', () => ({}))

import { accountChange, newAccount, passwordReset } from '../../src/auth/accounts/schemas.ts'
import { bodyOf } from '../../src/auth/shared/body.ts'
import { requireCaller } from '../../src/auth/shared/caller.ts'
import { changesBetween } from '../../src/auth/shared/changes.ts'
import { deviceOf, knownLabelOf } from '../../src/auth/shared/device.ts'
import { label, phone, smallObject } from '../../src/auth/shared/fields.ts'
import { pageOf, requireOneOf } from '../../src/auth/shared/list.ts'
import { objectBody, requireStrict } from '../../src/auth/shared/strict.ts'
import { suggestion } from '../../src/auth/shared/suggestion.ts'
import { HttpError } from '../../src/sdk/errors.ts'
import { titled } from '../support/titles.ts'

const codeOf = async (work: () => unknown) => {
  try {
    await work()
    return 'done'
  } catch (error) {
    if (error instanceof HttpError) return error.code
    throw error
  }
}
const accepts = (schema: v.GenericSchema, value: unknown) => v.safeParse(schema, value).success

describe('a body', () => {
  const role = bodyOf<string>('invalid_role', (body) =>
    body === 'right' ? { value: body } : { fields: [{ path: 'name', reason: 'it is wrong' }] },
  )

  it('that its reader refuses has the code of the route', async () => {
    expect(await codeOf(() => role['~standard'].validate('right'))).toBe('done')
    expect(await codeOf(() => role['~standard'].validate('wrong'))).toBe('invalid_role')
    expect(await codeOf(() => objectBody('invalid_template')['~standard'].validate([]))).toBe('invalid_template')
  })

  it.each(
    titled<[string, string]>([
      ['{"a":{"b":1}}', 'done'],
      ['{"a":1,"a":2}', 'invalid_template'],
      ['{"a":null}', 'invalid_template'],
      [`{"a":${'['.repeat(64)}${']'.repeat(64)}}`, 'invalid_template'],
    ]),
  )('%s', async (_title, body, code) => {
    const request = new Request('https://stack.example/', { method: 'PUT', body })
    expect(await codeOf(() => requireStrict(request, 'invalid_template'))).toBe(code)
  })
})

describe('an account that is made', () => {
  const email = 'a@example.com'
  const hash = `$2b$10$${'a'.repeat(53)}`
  it.each(
    titled<[object, boolean]>([
      [{ email }, true],
      [{ phone: '+4915100000001', phone_confirmed: true }, true],
      [{ email, email_confirmed: true, password: 'secret' }, true],
      [{}, false],
      [{ phone: '+4915100000001', email_confirmed: true }, false],
      [{ email, phone_confirmed: true }, false],
      [{ email, password: 'secret', password_hash: hash }, false],
      [{ email, password_hash: hash }, true],
      [{ email, password_hash: hash.replace('10', '13') }, false],
      [{ email, is_operator: true }, false],
    ]),
  )('%s', (_title, body, isAccepted) => {
    expect(accepts(newAccount, body)).toBe(isAccepted)
  })

  it('changes field by field, and its sessions end with a reset unless the body says otherwise', () => {
    expect(accepts(accountChange, { email: null, disabled: true })).toBe(true)
    expect(accepts(accountChange, { id: 'usr_x' })).toBe(false)
    expect(v.parse(passwordReset, {})).toEqual({ mode: 'email', revoke_sessions: true })
    expect(accepts(passwordReset, { mode: 'link' })).toBe(false)
  })
})

describe('a field', () => {
  it.each([
    ['+4915112345678', true],
    ['4915112345678', false],
    ['+0915112345678', false],
    ['+49151123456781234', false],
    ['+4915112345678\n', false],
  ])('%j is a phone number: %j', (text, isAccepted) => {
    expect(accepts(phone, text)).toBe(isAccepted)
  })

  it('2.14 for a hook is an object of at most 4,096 bytes, however few its letters', () => {
    const data = smallObject('the data')
    expect(accepts(data, { text: 'x'.repeat(4_085) })).toBe(true)
    expect(accepts(data, { text: 'x'.repeat(4_086) })).toBe(false)
    expect(accepts(data, { text: 'é'.repeat(2_100) })).toBe(false)
    expect([accepts(data, []), accepts(data, null), accepts(data, 'x')]).toEqual([false, false, false])
  })

  it('that names a second factor has a hundred letters', () => {
    expect([accepts(label, 'x'.repeat(100)), accepts(label, 'x'.repeat(101))]).toEqual([true, false])
  })
})

describe('a list', () => {
  const page = (limit: string | undefined) => pageOf('things', { limit, cursor: undefined }, {})

  it('has 50 rows where nobody says otherwise, and 500 at most', async () => {
    expect([(await page(undefined)).limit, (await page('1')).limit, (await page('500')).limit]).toEqual([50, 1, 500])
    for (const limit of ['0', '501', '999', '01', '1e2', ' 5', '5.0', ''])
      expect([limit, await codeOf(() => page(limit))]).toEqual([limit, 'invalid_limit'])
  })

  it('takes a filter that it knows, and no other one', async () => {
    expect(requireOneOf('outcome', undefined, ['a'])).toBe(undefined)
    expect(requireOneOf('outcome', 'a', ['a', 'b'])).toBe('a')
    expect(await codeOf(() => requireOneOf('outcome', 'c', ['a', 'b']))).toBe('invalid_request')
  })
})

describe('a caller', () => {
  it('of a route that admits guests has a session', async () => {
    expect(await codeOf(() => requireCaller(null))).toBe('unauthorized')
    expect(requireCaller({ id: 'usr_a' } as never)).toEqual({ id: 'usr_a' })
  })
})

describe('a user agent', () => {
  const safari =
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15'

  it('is a hint, and none at all is one too', () => {
    expect(deviceOf(safari)).toMatchObject({ label: 'Safari on macOS' })
    expect(deviceOf('curl/8.5.0')).toMatchObject({ browser: 'curl 8.5.0' })
    for (const none of [null, '', ' ']) expect(deviceOf(none)).toEqual({ os: null, browser: null, label: null })
  })

  it('gives a mail none of its own words', () => {
    expect(knownLabelOf(safari)).toBe('Safari on macOS')
    expect(knownLabelOf('call +1 555 now/1 please')).toBe(null)
    expect(knownLabelOf(null)).toBe(null)
  })
})

describe('a misspelt name', () => {
  it('is told the one that was meant, and a long one is compared with none', () => {
    expect(suggestion('orders.raed', ['orders.read'])).toBe(': did you mean "orders.read"?')
    expect(suggestion('customers', ['orders.read'])).toBe('')
    expect(suggestion(`${'x'.repeat(64)}y`, ['x'.repeat(65)])).toBe('')
  })
})

describe('9.16 the differences of a change', () => {
  it('are told by path, whatever the order of names', () => {
    const before = { mail: { from: 'a', port: 25 }, list: [{ x: 1, y: 2 }] }
    expect(changesBetween(before, { list: [{ y: 2, x: 1 }], mail: { port: 25, from: 'a' } })).toEqual([])
    expect(changesBetween(before, { list: [], mail: { from: 'b', port: 25 } })).toEqual([
      { path: 'list', from: [{ x: 1, y: 2 }], to: [] },
      { path: 'mail.from', from: 'a', to: 'b' },
    ])
  })

  it('hold no secret inside a list, nor one that is taken away', () => {
    expect(changesBetween({ hooks: [{ api_key: 'x', url: 'https://a:b@c' }], token: 'x' }, {})).toEqual([
      { path: 'hooks', from: [{ api_key: '***', url: 'https://***@c' }], to: null },
      { path: 'token', from: '***', to: null },
    ])
  })
})
