/**
 * The contract of each operation that administers (contract 6, 9): its answer, its refusals, its headers and its callers. The list of
 * operations is the auth module's own: one that has no row in `test/support/surface.ts` fails here.
 */
import * as fs from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { stackFiles } from '../../../local/files.ts'
import type { RouteTable } from '../../../runtime/table.ts'
import { errorCodes } from '../../../src/wire/envelope.ts'
import { administer } from '../../support/management.ts'
import { PathProxy } from '../../support/path-proxy.ts'
import { type Answer, useStack } from '../../support/stack.ts'
import { administered, type Operation, perform, type Row, sendCall, surface } from '../../support/surface.ts'

const operations = administered.map((operation) => [`${operation.method} ${operation.path}`, operation] as const)
const names = ({ path }: Operation) => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)

/** Values that name nothing, each of a form that its parameter may have. */
const unknownValues: Record<string, string> = {
  id: 'usr_unknown',
  role: 'nobody',
  name: 'unknown',
  key: 'unknown',
  credential: 'unknown',
}
/** A vault has no unknown names, and its names have another form. */
const valuesOf = (operation: Operation) => {
  const values = operation.name.startsWith('sessions.') ? { ...unknownValues, id: 'ses_unknown' } : unknownValues
  return Object.fromEntries(names(operation).map((name) => [name, values[name]!]))
}

/** The headers that each answer of the surface has, refusals included. */
function expectHeaders({ status, headers, text, json }: Answer): void {
  expect(headers.get('x-request-id')).toMatch(/^req_[0-9A-HJKMNP-TV-Z]{26}$/)
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  if (text === '') return
  expect(headers.get('content-type')).toBe('application/json')
  if (status >= 400) expect(json).toMatchObject({ status, request_id: headers.get('x-request-id') })
}

/** Everything of a refusal but the id of its request. */
const bodyOf = ({ text, json }: Answer) => text.replace(json.request_id, '…')

it('each operation has a row, and no row is left over', () => {
  expect(Object.keys(surface).sort()).toEqual(administered.map(({ name }) => name).sort())
  for (const operation of administered)
    expect(Object.keys(surface[operation.name]!.unknown ?? {}).sort()).toEqual(names(operation).sort())
})

/** The surface is the same behind a path (contract 9.14), so that both stacks must pass all of this. */
const stacks: [string, PathProxy | undefined][] = [
  ['a stack at the root', undefined],
  ['a stack behind a path', new PathProxy('/shop/api')],
]

describe.each(stacks)('%s', (_stack, proxy) => {
  const shop = useStack('examples/orders', undefined, proxy ? { proxy } : {})
  const admin = administer(shop)
  const world = { stack: shop, admin }

  const keyAlone = new Set<string>()
  let [guest, person, removed, acting] = ['', '', '', '']
  /** The first refusal of a caller: every other one has the same bytes. */
  const refused: Record<number, string> = {}

  beforeAll(async () => {
    const table = JSON.parse(fs.readFileSync(`${stackFiles(shop.root).auth}/table.json`, 'utf8')) as RouteTable
    for (const { method, path, gate } of table.routes) if (gate.serviceRole === 'key') keyAlone.add(`${method} ${path}`)
    guest = (await shop.call('/auth/anonymous', { method: 'POST' })).json.access_token
    person = (await shop.signUp()).token
    acting = (await admin.operator()).token
    const former = await admin.operator()
    removed = former.token
    await admin.call('DELETE', `/operators/${former.id}`)
  })

  describe.each(operations)('%s', (title, operation) => {
    const { method, path } = operation
    const row: Row = surface[operation.name] ?? { status: 0, happy: () => ({}) }

    it('answers as it is declared', async () => {
      const answer = await perform(world, operation, row.happy)
      expect([answer.status, answer.text]).toEqual([
        row.status,
        answer.status === 204 ? '' : expect.stringContaining('{'),
      ])
      expectHeaders(answer)
      if (!answer.json || !('next_cursor' in answer.json)) return
      expect(answer.json.has_more).toBe(answer.json.next_cursor !== null)
    })

    it.each(Object.entries(row.refusals ?? {}))('refuses: %s', async (code, make) => {
      const answer = await perform(world, operation, make)
      expect([answer.json.error, answer.text]).toEqual([code, answer.text])
      expect(answer.json.error_description).toMatch(/^\S.*\S$/)
      expectHeaders(answer)
      if (answer.status === 429) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
      if (answer.status === 412) expect(answer.headers.get('etag')).toBe(answer.json.etag)
      for (const field of answer.json.fields ?? [])
        expect(field).toMatchObject({ path: expect.any(String), reason: expect.any(String) })
    })

    it.each(Object.entries(row.unknown ?? {}))('an unknown %s: %s', async (name, code) => {
      const answer = await perform(world, operation, async (here) => {
        const call = await row.happy(here)
        return { ...call, values: { ...call.values, [name]: valuesOf(operation)[name]! } }
      })
      if (code === 'absolute') expect(answer.status).toBe(row.status)
      else expect([answer.status, answer.json.error]).toEqual([404, code])
      expectHeaders(answer)
    })

    it.each(['nothing=1', 'x', 'limit=1&cursors=a', '='])('the query ?%s is no parameter', async (query) => {
      const answer = await sendCall(world, operation, { values: valuesOf(operation), query, json: {} }, bodyFor(method))
      expect(answer.json).toMatchObject({ error: 'unknown_parameter', status: 400 })
      expectHeaders(answer)
      const stranger = { ...bodyFor(method), headers: { apikey: '' } }
      expect(
        (await sendCall(world, operation, { values: valuesOf(operation), query, json: {} }, stranger)).status,
      ).toBe(401)
    })

    it('another method is 405 with those that there are', async () => {
      const values = valuesOf(operation)
      const there = path.replace(/:(\w+)/g, (_, name) => values[name]!)
      const own = administered.filter((one) => new RegExp(`^${one.path.replace(/:\w+/g, '[^/]+')}$`).test(there))
      const known = new Set(own.flatMap((one) => (one.method === 'GET' ? ['GET', 'HEAD'] : [one.method])))
      const all = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
      const allow = [...all.filter((one) => known.has(one)), 'OPTIONS'].join(', ')
      for (const other of ['PURGE', ...all.filter((one) => !known.has(one))]) {
        const answer = await sendCall(world, { ...operation, method: other }, { values })
        expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow])
        if (other === 'HEAD') continue
        expect(answer.json.error).toBe('method_not_allowed')
        expectHeaders(answer)
      }
      const asked = await sendCall(world, { ...operation, method: 'OPTIONS' }, { values })
      expect([asked.status, asked.headers.get('allow')]).toEqual([204, allow])
    })

    it('takes the service-role key and operators, and refuses every other caller with the same words', async () => {
      const { service_role_key: key, publishable_key: publishable } = shop.stack.record
      const attempt = (headers: Record<string, string>) =>
        sendCall(world, operation, { values: valuesOf(operation), json: {} }, { ...bodyFor(method), headers })
      const bearer = (token: string) => ({ apikey: '', authorization: `Bearer ${token}` })
      const callers: [number, Record<string, string>][] = [
        [401, { apikey: '' }],
        [401, { apikey: publishable }],
        [401, { apikey: `${key}x` }],
        [401, { apikey: key.slice(0, -1) }],
        [401, { apikey: `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}` }],
        [401, bearer(key)],
        [401, bearer(`${person.slice(0, -4)}AAAA`)],
        [401, { dpop: 'x' }],
        [401, { ...bearer(acting), dpop: 'x' }],
        [401, { authorization: `DPoP ${acting}` }],
        [401, { apikey: '', authorization: `DPoP ${acting}` }],
        [403, bearer(guest)],
        [403, bearer(person)],
        [403, bearer(removed)],
        [403, { ...bearer(person), apikey: publishable }],
      ]
      if (keyAlone.has(title)) callers.push([403, bearer(acting)])
      for (const [status, headers] of callers) {
        const answer = await attempt(headers)
        expect([answer.status, answer.json.error]).toEqual([status, status === 401 ? 'unauthorized' : 'forbidden'])
        refused[status] ??= bodyOf(answer)
        expect(bodyOf(answer)).toBe(refused[status])
        expectHeaders(answer)
        expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null)
      }
      const admitted: Record<string, string>[] = keyAlone.has(title)
        ? [{}]
        : [{}, bearer(acting), { authorization: `Bearer ${person}` }]
      for (const headers of admitted) {
        const answer = await perform(world, operation, row.happy, { headers })
        expect([headers, answer.status]).toEqual([headers, row.status])
      }
    })
  })

  describe('an address of the surface', () => {
    it.each(['', '/unknown', '/users/usr_1/unknown', '/settings/x', '//settings', '/Settings', '/settings//'])(
      '%s that no operation has is 404',
      async (there) => {
        const answer = await admin.call('GET', there)
        expect(answer.json).toMatchObject({ error: 'not_found', status: errorCodes.not_found.status })
        expectHeaders(answer)
      },
    )

    it('may end with a slash, and HEAD is GET without its body', async () => {
      const [read, slashed, head] = await Promise.all([
        admin.call('GET', '/roles'),
        admin.call('GET', '/roles/'),
        admin.call('HEAD', '/roles'),
      ])
      expect([slashed.status, slashed.text]).toEqual([200, read.text])
      expect([head.status, head.text, head.headers.get('content-type')]).toEqual([200, '', 'application/json'])
    })
  })
})

/** A body, for the methods that may have one. */
function bodyFor(method: string): { json?: unknown } {
  return method === 'GET' || method === 'HEAD' ? { json: undefined } : { json: {} }
}
