/**
 * 8.7, 9 the document of the auth module: valid, with an example of each answer that its own schema admits. Every operation runs against
 * the real stack, whose answers are those of `docs/auth-answers.json`. With `-u` that file is written anew, and `npm run docs` puts it
 * into the document.
 */
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RecordedAnswer } from '../../../build/emit/openapi-answers.ts'
import { limitsDefaults } from '../../../src/wire/settings.ts'
import { type AccountWorld, accountFlows } from '../../support/account-flows.ts'
import { authDocument, documentedOperation, schemaFaults } from '../../support/document.ts'
import { administer } from '../../support/management.ts'
import { enable, mockIssuers, putClient } from '../../support/providers.ts'
import { recorded, recordedText } from '../../support/recorded.ts'
import { useStack } from '../../support/stack.ts'
import {
  administered,
  allOperations,
  type Make,
  type Operation,
  ownOperations,
  perform,
  type Row,
  type SurfaceCall,
  surface,
  type World,
} from '../../support/surface.ts'

const answers: Record<string, RecordedAnswer[]> = {}
const keyOf = ({ method, path }: Operation) => `${method} ${path}`

/** Calls of a row, by the name of the answer that each gets. */
function callsOf<W extends World>(row: Row<W>): [string, Make<W>][] {
  const unknown = Object.entries(row.unknown ?? {}).flatMap(([name, code]): [string, Make<W>][] => {
    if (code === 'absolute') return []
    const make: Make<W> = async (world) => {
      const call = await row.happy(world)
      return { ...call, values: { ...call.values, [name]: name === 'id' ? 'usr_unknown' : 'unknown' } }
    }
    return [[code, make]]
  })
  const success: [string, Make<W>][] = row.neverSucceeds === undefined ? [['success', row.happy]] : []
  return [...success, ...unknown, ...Object.entries(row.refusals ?? {})]
}

/** Refusals that the runtime gives to each operation that administers. */
const general: [string, Make][] = [
  ['unknown_parameter', () => ({ query: 'nothing=1' })],
  ['unauthorized', () => ({ headers: { apikey: '' } })],
  [
    'forbidden',
    async ({ stack }) => ({ headers: { apikey: '', authorization: `Bearer ${(await stack.signUp()).token}` } }),
  ],
]
const withValues =
  (operation: Operation, make: Make): Make =>
  async (world) => {
    const values = [...operation.path.matchAll(/:(\w+)/g)].map(([, name]) => [name!, 'unknown'])
    const call = await make(world)
    const json = operation.method === 'GET' || operation.method === 'DELETE' ? {} : { json: {} }
    return { ...call, ...json, values: Object.fromEntries(values) }
  }

async function check<W extends World>(world: W, operation: Operation, name: string, make: Make<W>): Promise<void> {
  let call: SurfaceCall = {}
  const answer = await perform(world, operation, async (here) => {
    call = await make(here)
    return call
  })
  const isRefusal = answer.status >= 400 && answer.json?.error !== undefined
  expect([isRefusal ? answer.json.error : 'success', answer.text]).toEqual([isRefusal ? name : 'success', answer.text])
  const row: { status: number } | undefined = surface[operation.name] ?? accountFlows[operation.name]
  if (name === 'success') expect(answer.status).toBe(row?.status)
  const { method, path } = operation
  answers[keyOf(operation)] = [...(answers[keyOf(operation)] ?? []), recorded(name, call, answer)]
  if (answer.text === '') expect(documentedOperation(method, path).responses).toHaveProperty(String(answer.status))
  else {
    const [type] = answer.headers.get('content-type')!.split(';') as [string]
    const body = type === 'application/json' ? answer.json : answer.text
    expect(schemaFaults(method, path, answer.status, type, body)).toEqual([])
  }
}

describe('the accounts’ own operations', () => {
  const issuers = mockIssuers()
  const shop = useStack('examples/orders', undefined, { auth: issuers.bindings })
  const world: AccountWorld = { stack: shop, admin: administer(shop), issuers }

  beforeAll(async () => {
    for (const issuer of issuers.all) await enable(shop, issuer)
    const fields = { ios_client_id: 'google-ios' }
    await putClient(shop, 'google', { key: 'app-ios', kind: 'native', platform: 'ios', fields })
    await world.admin.call('POST', '/providers/phone', { enabled: true })
    const wide = { attempts: 10_000, seconds: 1 }
    const rate_limits = Object.fromEntries(Object.keys(limitsDefaults).map((name) => [name, wide]))
    await world.admin.call('PUT', '/settings', { rate_limits })
  })
  afterAll(() => issuers.close())

  describe.each(ownOperations.map((one) => [keyOf(one), one] as const))('%s', (_key, operation) => {
    it.each(callsOf(accountFlows[operation.name] ?? { status: 0, happy: () => ({}) }))('%s', async (name, make) => {
      await check(world, operation, name, make)
    })
  })
})

describe('the operations that administer', () => {
  const shop = useStack('examples/orders')
  const world = { stack: shop, admin: administer(shop) }

  describe.each(administered.map((one) => [keyOf(one), one] as const))('%s', (_key, operation) => {
    const row = surface[operation.name] ?? { status: 0, happy: () => ({}) }
    const calls = [...callsOf(row), ...general.map(([name, make]) => [name, withValues(operation, make)] as const)]
    it.each(calls)('%s', async (name, make) => {
      await check(world, operation, name, make)
    })
  })
})

describe('the document', () => {
  it('is what the running stack answers', async () => {
    const all = allOperations.map((one) => [keyOf(one), answers[keyOf(one)] ?? []] as const)
    expect(all.filter(([, own]) => own.length === 0).map(([key]) => key)).toEqual([])
    await expect(recordedText(Object.fromEntries(all))).toMatchFileSnapshot('../../../docs/auth-answers.json')
  })

  it('is valid OpenAPI', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(authDocument))
    expect([valid, errors]).toEqual([true, undefined])
  })

  it('has an example of each answer, and each is what its schema admits', () => {
    const faults = allOperations.flatMap(({ name, method, path }) => {
      const { responses } = documentedOperation(method, path)
      return Object.entries(responses).flatMap(([status, { content = {} }]) =>
        Object.entries(content).flatMap(([type, { examples = {} }]) => {
          const place = `${method} ${path} ${status} ${type}`
          const isMissing = type === 'application/json' && Object.keys(examples).length === 0
          if (isMissing && accountFlows[name]?.neverSucceeds === undefined) return [`${place} has no example`]
          return Object.entries(examples).flatMap(([example, { value }]) =>
            schemaFaults(method, path, Number(status), type, value).map((fault) => `${place} ${example}: ${fault}`),
          )
        }),
      )
    })
    expect(faults).toEqual([])
  })

  it('describes pages as HTML, and nothing as a type that is not known', () => {
    const types = allOperations.flatMap(({ method, path, name }) =>
      Object.values(documentedOperation(method, path).responses).flatMap(({ content = {} }) =>
        Object.keys(content).map((type) => [name.split('.')[0] === 'pages', type]),
      ),
    )
    expect(types.filter(([, type]) => type === '*/*')).toEqual([])
    expect(types.some(([isPage, type]) => isPage && type === 'text/html')).toBe(true)
  })
})
