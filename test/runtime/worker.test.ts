/** The order of a request's steps, and what each of them decides (contract 3.4, 4.1, 4.6, 6.1), without a bundle. */
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Call } from '../../runtime/call.ts'
import { type Grants, noGrants } from '../../runtime/database/grants.ts'
import type { Emitted } from '../../runtime/emitted.ts'
import { requireKnownParameters } from '../../runtime/management.ts'
import type { Route, RouteTable } from '../../runtime/table.ts'
import { createWorker } from '../../runtime/worker.ts'
import { httpError } from '../../src/sdk/errors.ts'
import { createIssuer } from '../support/tokens.ts'

const issuer = await createIssuer()
const now = Math.floor(Date.now() / 1000)
const tokenOf = (claims: Record<string, unknown> = {}) => issuer.token({ iat: now, exp: now + 900, ...claims })

interface Subject {
  /** The steps that the request reached, in their order. */
  steps: string[]
  /** What the handler received. */
  received: unknown[]
  grants: Grants | null
  opened: { identity: unknown; options: unknown }[]
}

vi.stubGlobal('addEventListener', () => {})

let subject: Subject
beforeEach(() => {
  subject = { steps: [], received: [], grants: noGrants, opened: [] }
})

async function ask(
  route: Partial<Route>,
  {
    headers = {},
    search = '',
    limit = async () => {},
  }: { headers?: HeadersInit; search?: string; limit?: () => Promise<void> } = {},
) {
  const whole = {
    method: 'GET',
    path: '/a',
    controller: 0,
    handler: 'answer',
    gate: { required: true, decidedBy: 'default' },
    readsGrants: false,
    status: 200,
    parameters: [],
    maxBodyBytes: 10,
    ...route,
  } as unknown as Route
  const table = {
    databaseRoles: { caller: 'caller', service: 'service' },
    container: [],
    routes: [whole],
    webhooks: [],
  } as RouteTable
  const step = (name: string) => void subject.steps.push(name)
  const emitted = {
    match: (method: string, path: string) => (method === 'GET' && path === '/a' ? ([0] as const) : undefined),
    builders: [
      () => ({
        answer(...args: unknown[]) {
          step('handler')
          subject.received = args
          return new Response('done')
        },
      }),
    ],
    schemas: [],
    openDatabase: (_call: unknown, _roles: unknown, identity: unknown, options: unknown) => {
      subject.opened.push({ identity, options })
      return {
        async readGrants() {
          step('grants')
          return subject.grants
        },
        commit: async () => step('commit'),
        rollback: async () => step('rollback'),
      }
    },
    limitRate: async () => {
      step('limit')
      await limit()
    },
    management: {
      followKeys() {},
      hasServiceRoleKey: async ({ request }: Call) => request.headers.get('apikey') === 'the-key',
      requireKnownParameters,
    },
  } as unknown as Emitted
  const env = { AUTH_JWKS_URL: 'http://127.0.0.1:9/', AUTH_JWKS: JSON.stringify({ keys: [issuer.jwk] }) }
  const context = { waitUntil: () => {} } as unknown as ExecutionContext
  const response = await createWorker(table, emitted).fetch(
    new Request(`https://stack.example/a${search}`, { headers }),
    env,
    context,
  )
  return { status: response.status, headers: response.headers }
}

const signedIn = async (claims?: Record<string, unknown>) => ({ authorization: `Bearer ${await tokenOf(claims)}` })
const staff: Partial<Route> = { gate: { required: true, role: 'staff', decidedBy: 'route' }, readsGrants: true }
const management: Partial<Route> = {
  gate: { required: true, serviceRole: true, decidedBy: 'route' },
  readsGrants: true,
  parameters: [{ from: 'optionalUser' }],
}

describe('4.1 a route that requires a user', () => {
  it('refuses a caller without a token before anything else is asked', async () => {
    expect((await ask({ limit: {} as never })).status).toBe(401)
    expect(subject.steps).toEqual([])
  })

  it('admits a user, whose identity the transactions have', async () => {
    expect((await ask({}, { headers: await signedIn() })).status).toBe(200)
    expect(subject.steps).toEqual(['handler', 'commit'])
    expect(subject.opened).toMatchObject([{ identity: { claims: { sub: 'usr_1' } }, options: { isPublic: false } }])
  })

  it('is no public one for the transaction, and a public one is', async () => {
    await ask({ gate: { required: false, decidedBy: 'route' } })
    expect(subject.opened).toMatchObject([{ identity: null, options: { isPublic: true } }])
  })

  it('asks the grants of this moment', async () => {
    const headers = await signedIn()
    expect((await ask(staff, { headers })).status).toBe(403)
    expect(subject.steps).toEqual(['grants', 'rollback'])
    subject.grants = { ...noGrants, roles: ['staff'] }
    expect((await ask(staff, { headers })).status).toBe(200)
  })

  it('3.5 takes a session that was ended for none', async () => {
    subject.grants = null
    expect((await ask(staff, { headers: await signedIn() })).status).toBe(401)
    expect(subject.steps).toEqual(['grants', 'rollback'])
  })
})

describe('2.7 a limit', () => {
  const refusing = { limit: () => Promise.reject(httpError('rate_limited')) }

  it('that is exceeded ends the request, behind the gate and before the database', async () => {
    const route = { limit: {} as never }
    expect((await ask(route, { headers: await signedIn(), ...refusing })).status).toBe(429)
    expect(subject.steps).toEqual(['limit'])
  })

  it('that nobody declared is not asked', async () => {
    expect((await ask({}, { headers: await signedIn(), ...refusing })).status).toBe(200)
  })
})

describe('4.6, 9.7 a route that administers', () => {
  it('takes the key, and a token beside it does not count', async () => {
    const headers = { apikey: 'the-key', ...(await signedIn()) }
    expect((await ask(management, { headers })).status).toBe(200)
    expect(subject.received).toEqual([null])
    expect(subject.steps).toEqual(['handler', 'commit'])
  })

  it('takes the token of an operator who is listed', async () => {
    const headers = await signedIn({ management: true })
    expect((await ask(management, { headers })).status).toBe(403)
    subject.grants = { ...noGrants, operator: true }
    expect((await ask(management, { headers })).status).toBe(200)
    expect(subject.received).toMatchObject([{ id: 'usr_1' }])
  })

  it('refuses everyone else, and a parameter that it does not take', async () => {
    expect((await ask(management)).status).toBe(401)
    expect((await ask(management, { headers: await signedIn() })).status).toBe(403)
    expect((await ask(management, { headers: { apikey: 'the-key' }, search: '?limt=1' })).status).toBe(400)
  })
})

describe('6.1 who may keep an answer', () => {
  const kept = async (route: Partial<Route>, headers: HeadersInit = {}) => {
    const response = await ask({ ...route, parameters: [] }, { headers })
    return [response.headers.get('cache-control'), response.headers.get('vary')]
  }

  const open: Partial<Route> = { gate: { required: false, decidedBy: 'route' } }

  it('nobody where it depends on the caller', async () => {
    expect(await kept({}, await signedIn())).toEqual(['no-store', 'authorization'])
    expect(await kept(open, { authorization: 'Bearer x' })).toEqual(['no-store', 'authorization'])
    expect(await kept({ ...open, readsGrants: true })).toEqual(['no-store', 'authorization'])
  })

  it('everyone where a public route is asked without a token', async () => {
    expect(await kept(open)).toEqual([null, 'authorization'])
  })
})
