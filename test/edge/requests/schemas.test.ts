/** Schemas of request data and the documents made of them, in workerd (contract 2.8, 2.9, 8.7). */
import * as fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { useStack } from '../../support/stack.ts'

const probe = useStack('test/edge/probe', { PROBE_SECRET: 'x' })

describe('2.8 a body', () => {
  it('is what its schema makes of it', async () => {
    const items = [{ sku: 'tea', quantity: 2 }]
    expect((await probe.call('/schemas/zod', { json: { items } })).json).toEqual({ note: 'none', items })
    expect((await probe.call('/schemas/valibot', { json: { city: 'Ulm', more: 1 } })).json).toEqual({ city: 'Ulm' })
    expect((await probe.call('/schemas/arktype', { json: { age: 18 } })).json).toEqual({ age: 18 })
    expect((await probe.call('/schemas/own', { json: { name: 'free' } })).json).toBe('free')
  })

  it.each([
    ['zod', { items: [{ sku: 1, quantity: 0 }], more: true }, ['items.0.sku', 'items.0.quantity', 'body']],
    ['zod', { items: [] }, ['items']],
    ['zod', null, ['body']],
    ['valibot', { city: 'U', zip: 7 }, ['city', 'zip']],
    ['arktype', { age: 17 }, ['age']],
    ['own', { name: 'taken' }, ['name', 'body']],
  ])('of %s that violates it is 400 with every field: %j', async (route, json, paths) => {
    const { status, json: body } = await probe.call(`/schemas/${route}`, { method: 'POST', json })
    expect([status, body.error]).toEqual([400, 'invalid_request'])
    expect(body.fields.map((field: { path: string }) => field.path).sort()).toEqual([...paths].sort())
    expect(body.error_description).toContain(body.fields[0].reason)
    for (const { reason } of body.fields) expect(reason.length).toBeLessThanOrEqual(200)
  })

  it('that is not JSON is refused before the schema is asked', async () => {
    const answer = await probe.call('/schemas/zod', { body: '{', headers: { 'content-type': 'application/json' } })
    expect([answer.status, answer.json.fields]).toEqual([400, [{ path: 'body', reason: 'the body is not valid JSON' }]])
  })
})

describe('2.8 a parameter, a query and a header', () => {
  it('are converted, and defaults are filled in', async () => {
    expect((await probe.call('/schemas/item/7?limit=20', { headers: { 'x-tag': 'a' } })).json).toEqual({
      id: 7,
      limit: 20,
      tag: 'a',
    })
    expect((await probe.call('/schemas/item/7')).json).toEqual({ id: 7, limit: 10, tag: null })
  })

  it('that violate theirs are named together', async () => {
    const { status, json } = await probe.call('/schemas/item/seven?limit=51', { headers: { 'x-tag': '7' } })
    expect(status).toBe(400)
    expect(json.fields.map((field: { path: string }) => field.path)).toEqual(['id', 'limit', 'x-tag'])
  })

  it('the whole query is an object, and what is repeated a list', async () => {
    expect((await probe.call('/schemas/page?from=3&tag=a&tag=b')).json).toEqual({ from: 3, tag: ['a', 'b'] })
    expect((await probe.call('/schemas/page?tag=a&__proto__=x')).json).toEqual({ from: 0, tag: 'a' })
    expect((await probe.call('/schemas/page?from=x')).json.fields[0].path).toBe('from')
  })

  it('a parameter and a body that are both wrong are named in one answer', async () => {
    const { json } = await probe.call('/schemas/item/x', { method: 'PATCH', json: { quantity: 'many' } })
    expect(json.fields.map((field: { path: string }) => field.path)).toEqual(['id', 'quantity'])
  })
})

describe.each(['zod', 'valibot', 'arktype'])('2.8 text, where a schema of %s converts nothing itself', (library) => {
  const ask = async (route: string, query: string) => {
    const { status, json } = await probe.call(`/texts/${library}/${route}?${query}`)
    return status === 200 ? json : status
  }
  const paths = async (route: string, query: string) => {
    const { status, json } = await probe.call(`/texts/${library}/${route}?${query}`)
    return [status, json.error, json.fields.map(({ path }: { path: string }) => path)]
  }

  it.each([
    ['3', 3],
    ['-7', -7],
    ['0.5', 0.5],
    ['-0', 0],
    ['1e3', 1000],
    ['1e21', 1e21, '1e%2B21'],
    ['9007199254740991', 9007199254740991],
    ['-9007199254740992', -9007199254740992],
  ])('is a number as JSON writes one: "%s"', async (text, n, encoded = text) => {
    expect(await ask('number', `n=${encoded}`)).toEqual({ n })
  })

  it.each([
    '3abc',
    '',
    '%203',
    '3%20',
    '0x10',
    '%EF%BC%91', // a fullwidth digit
    'NaN',
    'Infinity',
    '-Infinity',
    '1e400',
    '9007199254740993', // 2^53 + 1: its double is another number
    '-9007199254740993.0',
    'TRUE',
    'true',
    '%2B3',
    '.5',
    '3.',
    '03',
    '1_000',
    '1,000',
    'null',
    '[]',
  ])('is no number, and refused by the schema: "%s"', async (text) => {
    expect(await paths('number', `n=${text}`)).toEqual([400, 'invalid_request', ['n']])
  })

  it('is a boolean as JSON writes one, and nothing else is', async () => {
    expect(await ask('boolean', 'b=true')).toEqual({ b: true })
    expect(await ask('boolean', 'b=false')).toEqual({ b: false })
    for (const text of ['TRUE', 'True', '1', '0', 'yes', 'on', '', '%20true', 'null'])
      expect([text, ...(await paths('boolean', `b=${text}`))]).toEqual([text, 400, 'invalid_request', ['b']])
  })

  it('is a list where the schema takes one, of one value too', async () => {
    expect(await ask('list', 'ids=1&ids=2&ids=1')).toEqual({ ids: [1, 2, 1] })
    expect(await ask('list', 'ids=1')).toEqual({ ids: [1] })
    expect(await paths('list', 'ids=1&ids=x')).toEqual([400, 'invalid_request', ['ids.1']])
    for (const query of ['ids=', 'ids=1,2', 'ids=1&ids=', 'ids=1.5', 'ids[]=1', '', 'ids=1&ids=%00'])
      expect([query, await ask('list', query)]).toEqual([query, 400])
  })

  it('is converted in the whole query, by the name of each parameter', async () => {
    expect(await ask('whole', 'n=3&b=false&ids=1&ids=2&tag=1&text=1')).toEqual({
      n: 3,
      b: false,
      ids: [1, 2],
      tag: '1',
      text: '1',
    })
    expect(await ask('whole', 'ids=7&tag=1&tag=true')).toEqual({ n: 1, ids: [7], tag: ['1', 'true'] })
    expect(await ask('whole', '')).toEqual({ n: 1 })
    for (const query of ['n=3abc', 'n=', 'n=1&n=2', 'b=TRUE', 'ids=1&ids=x', 'text=1&text=2', '__proto__=1', 'n=%00'])
      expect([query, await ask('whole', query)]).toEqual([query, 400])
  })
})

describe('2.8 text of a path and a header', () => {
  it('is converted like that of a query; the items of a list stand between commas', async () => {
    expect((await probe.call('/texts/zod/path/7/1,2')).json).toEqual({ id: 7, ids: [1, 2] })
    expect((await probe.call('/texts/zod/path/7/1%2C2')).json).toEqual({ id: 7, ids: [1, 2] })
    for (const address of [
      '/texts/zod/path/x/1',
      '/texts/zod/path/7/1,x',
      '/texts/zod/path/7/1,,2',
      '/texts/zod/path/7.5/1',
    ])
      expect([address, (await probe.call(address)).status]).toEqual([address, 400])
    const header = (headers: Record<string, string>) => probe.call('/texts/zod/header', { headers })
    expect((await header({ 'x-ids': '1, 2', 'x-on': 'true' })).json).toEqual({ ids: [1, 2], on: true })
    expect((await header({ 'x-ids': '3' })).json).toEqual({ ids: [3], on: null })
    const wrong: Record<string, string>[] = [{ 'x-ids': '1, x' }, { 'x-ids': '' }, { 'x-ids': '1', 'x-on': 'yes' }]
    for (const headers of wrong) expect((await header(headers)).status).toBe(400)
  })

  it('stays text where the schema takes text, or has a function that the value goes through first', async () => {
    expect((await probe.call('/texts/zod/either?tags=7&either=7&split=1-2')).json).toEqual({
      tags: ['7'],
      either: '7',
      split: ['1', '2'],
    })
  })
})

describe('2.9 methods', () => {
  it('OPTIONS is told the methods of the address, and 405 names the same', async () => {
    const options = await probe.call('/schemas/item/7', { method: 'OPTIONS' })
    expect([options.status, options.text]).toEqual([204, ''])
    expect(options.headers.get('allow')).toBe('GET, HEAD, PATCH, DELETE, OPTIONS')
    const put = await probe.call('/schemas/item/7', { method: 'PUT', json: {} })
    expect([put.status, put.json.error]).toEqual([405, 'method_not_allowed'])
    expect(put.headers.get('allow')).toBe(options.headers.get('allow'))
    expect((await probe.call('/schemas/nothing', { method: 'OPTIONS' })).status).toBe(404)
  })

  it('HEAD is the GET without its body, and a route without GET has none', async () => {
    const head = await probe.call('/schemas/item/7', { method: 'HEAD' })
    expect([head.status, head.text]).toEqual([200, ''])
    expect((await probe.call('/schemas/zod', { method: 'HEAD' })).status).toBe(405)
  })

  it('one slash at the end does not count, an empty segment matches nothing', async () => {
    expect((await probe.call('/schemas/item/7/')).status).toBe(200)
    expect((await probe.call('/schemas/item/7//')).status).toBe(404)
    expect((await probe.call('/schemas//item/7')).status).toBe(404)
    expect((await probe.call('/schemas/item/%37')).json.id).toBe(7)
  })
})

describe('8.7 what is emitted beside the worker', () => {
  const emitted = (name: string) => fs.readFileSync(path.join(probe.root, '.stack', name), 'utf8')

  it('openapi.json is valid OpenAPI 3.1, with the schemas of the libraries that offer them', async () => {
    const document = JSON.parse(emitted('openapi.json'))
    const { valid, errors } = await new Validator().validate(structuredClone(document))
    expect(errors).toBeUndefined()
    expect(valid).toBe(true)
    const body = document.paths['/schemas/zod'].post.requestBody.content['application/json'].schema
    expect(body).toMatchObject({ type: 'object', required: ['items'], properties: { items: { minItems: 1 } } })
    expect(document.paths['/schemas/arktype'].post.requestBody.content['application/json'].schema).toMatchObject({
      properties: { age: { exclusiveMinimum: 17 } },
    })
    expect(document.paths['/schemas/valibot'].post.requestBody.content['application/json'].schema).toMatchObject({
      required: ['city'],
    })
    expect(document.paths['/schemas/own'].post.requestBody.content['application/json']).toEqual({})
    const { parameters } = document.paths['/schemas/item/{id}'].get
    expect(parameters.map(({ name, in: place }: { name: string; in: string }) => [name, place])).toEqual([
      ['id', 'path'],
      ['limit', 'query'],
      ['x-tag', 'header'],
    ])
    const query = document.paths['/schemas/page'].get.parameters
    expect(query.map(({ name }: { name: string }) => name)).toEqual(['from', 'tag'])
    expect(document.paths['/gates/signed-in'].get.security).toEqual([{ bearer: [] }])
    expect(document.paths['/schemas/zod'].post.security).toEqual([])
    const operations = Object.values<Record<string, { operationId: string }>>(document.paths).flatMap(Object.values)
    const ids = operations.map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
    const required = Object.values<Record<string, { parameters?: { name: string; required?: boolean }[] }>>(
      document.paths,
    )
      .flatMap(Object.values)
      .flatMap(({ parameters = [] }) => parameters.filter((one: { required?: boolean }) => one.required))
      .map(({ name }: { name: string }) => name)
    expect(required).toContain('n') // `z.number()` refuses a request without it
    expect(required).not.toContain('limit') // it has a default
  })

  it('client.js calls the routes, and gives the envelope of an error', async () => {
    const { createClient, ClientError } = await import(pathToFileURL(path.join(probe.root, '.stack/client.js')).href)
    const client = createClient(`${probe.url}/`)
    expect(await client['GET /schemas/item/:id']({ params: { id: 7 }, query: { limit: 3 } })).toEqual({
      id: 7,
      limit: 3,
      tag: null,
    })
    expect(await client['DELETE /schemas/item/:id']({ params: { id: 'a/b?c' } })).toBeUndefined()
    expect(await client['GET /schemas/page']({ query: { tag: ['a', 'b'] } })).toEqual({ from: 0, tag: ['a', 'b'] })
    const refused = client['POST /schemas/valibot']({ body: { city: 'U' } })
    await expect(refused).rejects.toBeInstanceOf(ClientError)
    await expect(refused).rejects.toMatchObject({ status: 400, code: 'invalid_request', fields: [{ path: 'city' }] })
    await expect(client['GET /gates/signed-in']()).rejects.toMatchObject({ status: 401, code: 'unauthorized' })
    expect(await client['GET /texts/zod/list']({ query: { ids: [1, 2] } })).toEqual({ ids: [1, 2] })
    expect(await client['GET /texts/zod/path/:id/:ids']({ params: { id: 7, ids: [1, 2] } })).toEqual({
      id: 7,
      ids: [1, 2],
    })
    expect(await client['GET /texts/zod/header']({ headers: { 'x-ids': [1, 2] } })).toEqual({ ids: [1, 2], on: null })
    const at = '2026-01-02T03:04:05.000Z'
    const hard = { at, price: '3', tree: { name: 'a' } }
    expect(await client['POST /texts/zod/hard']({ body: hard })).toEqual({ at, price: 3, note: 'none' })
    const person = await probe.signUp()
    const signedIn = createClient(probe.url, { token: async () => person.token })
    expect(await signedIn['GET /gates/signed-in']()).toMatchObject({ id: person.id })
  })

  it.each(['', '.', '..'])('client.js sends no path parameter that would make another address: "%s"', async (id) => {
    const { createClient } = await import(pathToFileURL(path.join(probe.root, '.stack/client.js')).href)
    const call = createClient(probe.url)['DELETE /schemas/item/:id']({ params: { id } })
    await expect(call).rejects.toThrow(TypeError)
  })
})
