/** Hostile texts in every field, parameter and header of every operation of the auth module, as its own document describes them. */
import * as fs from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { limitsDefaults } from '../../../src/wire/settings.ts'
import { naughtyStrings } from '../../support/management.ts'
import { type Answer, type Person, useStack } from '../../support/stack.ts'

const shop = useStack('examples/orders')

type Schema = Record<string, unknown>

interface Operation {
  method: string
  path: string
  parameters: { name: string; in: 'path' | 'query' | 'header' }[]
  body: Schema | undefined
}

const document = JSON.parse(fs.readFileSync('docs/auth-openapi.json', 'utf8')) as {
  paths: Record<string, Record<string, { parameters?: Operation['parameters']; requestBody?: Schema }>>
  components: { schemas: Record<string, Schema> }
}

/** Those that change how the others answer come last. */
const isLast = ({ method, path }: Operation) => method !== 'GET' && /\/(?:settings|providers\/)/.test(path)

const described: Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { parameters = [], requestBody }]) => {
    const content = (requestBody?.['content'] as Record<string, { schema?: Schema }> | undefined)?.['application/json']
    return { method: method.toUpperCase(), path, parameters, body: content?.schema && resolved(content.schema) }
  }),
)

const operations = [...described.filter((one) => !isLast(one)), ...described.filter(isLast)]

function resolved(schema: Schema): Schema {
  const name = typeof schema['$ref'] === 'string' ? schema['$ref'].split('/').at(-1)! : undefined
  return name === undefined ? schema : document.components.schemas[name]!
}

/** The smallest value that a schema describes, with every optional member. */
function sampleOf(schema: Schema): unknown {
  const one = resolved(schema)
  const choice = (one['anyOf'] ?? one['oneOf']) as Schema[] | undefined
  if (choice) return sampleOf(choice[0]!)
  if ('const' in one) return one['const']
  if (Array.isArray(one['enum'])) return one['enum'][0]
  if (one['type'] === 'object') {
    const members = Object.entries((one['properties'] ?? {}) as Record<string, Schema>)
    return Object.fromEntries(members.map(([name, member]) => [name, sampleOf(member)]))
  }
  if (one['type'] === 'array') return one['items'] ? [sampleOf(one['items'] as Schema)] : []
  if (one['type'] === 'boolean') return true
  if (one['type'] === 'integer' || one['type'] === 'number') return 1
  return 'text'
}

/** The places of all texts in a value. */
function placesOf(value: unknown, at: (string | number)[] = []): (string | number)[][] {
  if (typeof value === 'string') return [at]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => placesOf(member, [...at, name]))
}

function withText(value: unknown, [name, ...rest]: (string | number)[], text: string): unknown {
  if (name === undefined) return text
  const copy = structuredClone(value) as Record<string, unknown>
  copy[name] = withText(copy[name], rest, text)
  return copy
}

/** Texts that each place gets. Over all places every text is used many times. */
const each = 24
let next = 0
const some = () => Array.from({ length: each }, () => naughtyStrings[next++ % naughtyStrings.length]!)

if (naughtyStrings.length === 0)
  process.stderr.write('the naughty strings are not beside this repository: their tests are skipped\n')
describe.skipIf(naughtyStrings.length === 0)('naughty strings', () => {
  let person: Person
  const statuses = new Map<number, number>()

  beforeAll(async () => {
    const wide = { attempts: 10_000, seconds: 1 }
    const rate_limits = Object.fromEntries(Object.keys(limitsDefaults).map((name) => [name, wide]))
    const headers = { apikey: shop.stack.record.service_role_key }
    const manage = (path: string, json: object, method = 'POST') =>
      shop.call(`/v1/management/auth${path}`, { method, json, headers })
    expect((await manage('/settings', { rate_limits }, 'PUT')).status).toBe(200)
    for (const name of ['google', 'apple', 'microsoft', 'github', 'phone'])
      await manage(`/providers/${name}`, { enabled: true })
    person = await shop.signUp()
  })

  const isAdministered = (path: string) => /^\/(?:v1|admin)\//.test(path)

  function send({ method, path }: Operation, address: string, body: unknown, headers: Record<string, string> = {}) {
    const credential = isAdministered(path)
      ? { headers: { ...headers, apikey: shop.stack.record.service_role_key } }
      : { headers, token: person.token }
    return shop.call(address, { method, ...credential, ...(body === undefined ? {} : { json: body }) })
  }

  /** A client’s fetch refuses some header values itself: those never reach a stack. */
  const fits = (text: string) => /^[\x20-\x7e\x80-\xff]*$/.test(text)

  function requestsOf(operation: Operation): (() => Promise<Answer>)[] {
    const { path, parameters, body } = operation
    const sample = body && sampleOf(body)
    const address = path.replaceAll(/\{\w+\}/g, 'text')
    const inBody = placesOf(sample).flatMap((place) =>
      some().map((text) => () => send(operation, address, withText(sample, place, text))),
    )
    const elsewhere = parameters.flatMap(({ name, in: where }) =>
      some().flatMap((text) => {
        const encoded = encodeURIComponent(text.toWellFormed())
        if (where === 'header') return fits(text) ? [() => send(operation, address, sample, { [name]: text })] : []
        if (where === 'query') return [() => send(operation, `${address}?${name}=${encoded}`, sample)]
        const segment = encoded === '' || /^\.{1,2}$/.test(encoded) ? '%20' : encoded
        return [() => send(operation, path.replace(`{${name}}`, segment).replaceAll(/\{\w+\}/g, 'text'), sample)]
      }),
    )
    return [...inBody, ...elsewhere]
  }

  it.each(operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const))(
    '%s',
    async (_name, operation) => {
      const requests = requestsOf(operation)
      for (let at = 0; at < requests.length; at += 12) {
        for (const { status, text, headers } of await Promise.all(
          requests.slice(at, at + 12).map((request) => request()),
        )) {
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          // a provider or a gateway that is named in the texts does not answer: 502 is the stack’s own word for that
          expect([status < 500 || status === 502, text]).toEqual([true, text])
          if (text !== '' && /json/.test(headers.get('content-type') ?? '')) JSON.parse(text)
        }
      }
    },
  )

  it('reach the routes: no limit and no missing credential hides them', () => {
    const all = [...statuses.values()].reduce((sum, count) => sum + count, 0)
    expect(all).toBeGreaterThan(2_000)
    expect(statuses.get(429) ?? 0).toBe(0)
    expect((statuses.get(401) ?? 0) / all).toBeLessThan(0.2)
  })

  it('tear no line of the log, and cause no failure within', () => {
    const torn = shop.log.filter((line) => typeof line['level'] !== 'string')
    const failed = shop.log.filter(
      (line) => line['level'] === 'error' && !/^a message is given up/.test(String(line['message'])),
    )
    expect([torn, failed]).toEqual([[], []])
  })
})
