/** Which other origins may read an answer (Fetch, "CORS protocol"), in workerd. */
import { describe, expect, it } from 'vitest'
import { useStack } from '../../support/stack.ts'

const probe = useStack('test/edge/probe')
const closed = useStack('test/edge/hooks')
const app = 'https://app.example'

const cors = (headers: Headers) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'))

const ask = (path: string, headers: Record<string, string>, method = 'GET', stack = probe) =>
  stack.call(path, { method, headers })

describe('an origin that is named', () => {
  it('reads an answer, and an error, with credentials', async () => {
    const expected = {
      'access-control-allow-origin': app,
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': 'x-request-id',
    }
    for (const path of ['/request/nothing', '/sql/hoarded', '/request/throw', '/request/response']) {
      expect(cors((await ask(path, { origin: app })).headers)).toEqual({ ...expected, vary: 'authorization, origin' })
    }
    expect(cors((await ask('/no/such', { origin: app })).headers)).toEqual({ ...expected, vary: 'origin' })
  })

  it('is told before what it may send', async () => {
    const headers = { origin: app, 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-any' }
    const answer = await ask('/request/echo', headers, 'OPTIONS')
    expect([answer.status, answer.headers.get('allow'), cors(answer.headers)]).toEqual([
      204,
      'POST, OPTIONS',
      {
        'access-control-allow-origin': app,
        'access-control-allow-credentials': 'true',
        'access-control-allow-methods': 'POST, OPTIONS',
        'access-control-allow-headers': 'authorization, content-type, x-own',
        'access-control-expose-headers': 'x-request-id',
        'access-control-max-age': '600',
        vary: 'origin',
      },
    ])
  })
})

describe('any other', () => {
  it.each([
    'https://evil.example',
    'http://app.example',
    'https://app.example:8443',
    'https://app.example.evil.example',
    'https://APP.example',
    'null',
    '',
  ])('%j is given nothing back, not even to a preflight', async (origin) => {
    expect(cors((await ask('/request/nothing', { origin })).headers)).toEqual({ vary: 'authorization, origin' })
    const preflight = await ask('/request/echo', { origin, 'access-control-request-method': 'POST' }, 'OPTIONS')
    expect([preflight.status, cors(preflight.headers)]).toEqual([204, { vary: 'origin' }])
  })

  it('nor does anything change for who sends no origin, but what caches must know', async () => {
    expect(cors((await ask('/request/nothing', {})).headers)).toEqual({ vary: 'authorization, origin' })
  })

  it('webhooks have no pages', async () => {
    expect(cors((await ask('/webhooks/stripe', { origin: app }, 'POST')).headers)).toEqual({})
  })

  it('a project that names none answers none', async () => {
    expect(cors((await ask('/webhooks/x', { origin: app }, 'POST', closed)).headers)).toEqual({})
    expect(cors((await ask('/x', { origin: app }, 'OPTIONS', closed)).headers)).toEqual({})
  })
})
