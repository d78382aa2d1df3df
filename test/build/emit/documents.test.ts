/** The documents beside the bundle: the types of the client, and openapi.json (contract 8.6, 8.7). */
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import openapiTS, { astToString } from 'openapi-typescript'
import { afterAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../support/command.ts'
import { bodyOf, emittedOf, evaluatedProject, frontendErrors, tsc } from '../../support/emitted.ts'
import { buildProject, copyProject, temporaryFolder } from '../../support/project.ts'

const resolutions = [
  ['bundler', { module: 'esnext', moduleResolution: 'bundler' }],
  ['nodenext', { module: 'nodenext', moduleResolution: 'nodenext', exactOptionalPropertyTypes: true }],
] as const

const copies = new Map<string, Promise<string>>()

afterAll(async () => {
  for (const copy of copies.values()) fs.rmSync(await copy, { recursive: true, force: true })
})

/** A project of this repository, built once for all tests of this file. */
function builtCopy(source: string, roles: string[]): Promise<string> {
  const build = async () => {
    const root = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-emit-'))
    copyProject(path.join(packageRoot, source), root)
    const result = await buildProject(root, roles)
    expect(result.refusals.filter(({ severity }) => severity === 'error')).toEqual([])
    return root
  }
  const copy = copies.get(source) ?? build()
  copies.set(source, copy)
  return copy
}

describe('8.7 client.d.ts in a plain frontend', () => {
  const example = `
  const orders = await client['GET /orders']()
  const first: string | undefined = orders[0]?.sku
  const at: string = orders[0]!.created_at
  await client['POST /orders']({ body: { sku: 'tea', quantity: 2 } })
  await client['GET /orders/:id']({ params: { id: 7 } })
  const { to } = await client['GET /orders/:id/invoice']({ params: { id: '7' } })
  const address: string | undefined = to
  // @ts-expect-error a field is missing
  await client['POST /orders']({ body: { sku: 'tea' } })
  // @ts-expect-error a field is of another type
  await client['POST /orders']({ body: { sku: 'tea', quantity: '2' } })
  // @ts-expect-error there is no such field
  await client['POST /orders']({ body: { sku: 'tea', quantity: 2, price: 3 } })
  // @ts-expect-error the path has a parameter
  await client['GET /orders/:id']()
  // @ts-expect-error there is no such route
  await client['GET /nothing']()
  // @ts-expect-error it is text
  const wrong: number = orders[0]!.sku
  // @ts-expect-error JSON has no dates
  const date: Date = orders[0]!.created_at
  return [first, at, address, wrong, date]`

  it.each(resolutions)('of the example, with module resolution %s', async (_name, options) => {
    const root = await builtCopy('examples/orders', ['staff', 'manager', 'customer'])
    expect(frontendErrors(root, example, options)).toBe('')
  })

  const probe = `
  const { note } = await client['POST /schemas/zod']({ body: { items: [{ sku: 'tea', quantity: 1 }] } })
  const text: string = note
  const { limit } = await client['GET /schemas/item/:id']({ params: { id: 7 }, query: { limit: 3 }, headers: { 'x-tag': 'a' } })
  const count: number = limit
  await client['GET /schemas/page']()
  await client['GET /schemas/page']({ query: { tag: ['a', 'b'] } })
  await client['GET /texts/zod/list']({ query: { ids: [1, 2] } })
  await client['GET /texts/valibot/whole']({ query: { b: true } })
  await client['GET /texts/arktype/number']({ query: { n: 1 } })
  const { at, price } = await client['POST /texts/zod/hard']({ body: { at: 'any', price: '3', tree: { name: 'a', children: [{ name: 'b' }] } } })
  const sent: [string, number] = [at, price]
  const nothing: undefined = await client['DELETE /schemas/item/:id']({ params: { id: 'x' } })
  const promoted: 'insider'[] = await client['PUT /request/roles/:user/:role']({ params: { user: 'a', role: 'insider' } })
  const { device } = await client['GET /gates/signed-in']()
  // @ts-expect-error it takes text and gives a number
  await client['POST /texts/zod/hard']({ body: { at: 'any', price: 3, tree: { name: 'a' } } })
  // @ts-expect-error a list of numbers
  await client['GET /texts/zod/list']({ query: { ids: ['1'] } })
  // @ts-expect-error the schema refuses a request without it
  await client['GET /texts/zod/number']()
  // @ts-expect-error an item is no number
  await client['POST /schemas/zod']({ body: { items: [{ sku: 7, quantity: 1 }] } })
  // @ts-expect-error a result that may be null
  device.length
  // @ts-expect-error a result that is text
  const wrong: number = note
  return [text, count, sent, nothing, promoted, wrong]`

  it.each(resolutions)('of the probe, with module resolution %s', async (_name, options) => {
    const root = await builtCopy('test/edge/probe', ['insider'])
    expect(frontendErrors(root, probe, options)).toBe('')
  })

  it('imports nothing, and says what JSON makes of a type', async () => {
    const { root, found } = await evaluatedProject(
      `@Get() show() { return shown() }
  @Get('tree') tree(): Tree { return { name: 'a', children: [] } }
  @Get('error') error(): Error2 { return { Promise: 1 } }
  @Get('page') page(): Page<Tree> { return { data: [], next: undefined } }
  @Get('other') other(): Page<number> { return { data: [], next: undefined } }
  @Post() create(@Body() _body: { at: Date; name?: string }) { return undefined as number | undefined }`,
      `interface Tree { name: string; children: Tree[] }
interface Page<T> { data: T[]; next: string | undefined }
interface Client { Promise: number }
type Error2 = Client
class Row { id = 1; private secret = 2; #own = 3; get half() { return this.id / 2 } double() { return this.secret + this.#own } }
enum Kind { A = 'a', B = 'b' }
const shown = () => ({
  at: new Date(0), bytes: new Uint8Array(1), run: () => 1, gone: undefined, maybe: undefined as string | undefined, map: new Map<string, number>(),
  row: new Row(), kind: Kind.A as Kind, pair: ['a', 1] as [string, number?], list: [undefined as number | undefined], 'odd-name': 1 as const,
  [Symbol.iterator]: 1, url: new URL('http://x'), either: 1 as number | string | null, open: {} as Record<string, boolean>, own: { toJSON: () => ({ a: 1 }) },
})`,
    )
    expect(found.map(({ slug }) => slug)).toEqual(['body-unchecked'])
    const text = emittedOf(root, 'client.d.ts')
    expect(text).not.toMatch(/\bimport\b/)
    const line = (route: string) =>
      text
        .split('\n')
        .find((one) => one.includes(`'${route}'(`))!
        .trim()
    expect(line('GET /a')).toBe(
      `'GET /a'(request?: Request): Promise<{ at: string; bytes: { [name: string]: number }; maybe?: string; map: { [name: string]: unknown }; row: Row; kind: 'a' | 'b'; pair: [string, number?]; list: (number | null)[]; 'odd-name': 1; url: string; either: string | number | null; open: { [name: string]: boolean }; own: { a: number } }>`,
    )
    expect(line('POST /a')).toBe(
      `'POST /a'(request: Request<{ body: { at: string; name?: string } }>): Promise<number | undefined>`,
    )
    expect(text).toContain('export interface Tree { name: string; children: Tree[] }')
    expect(text).toContain('export interface Row { id: number }')
    expect(text).toContain('export interface Page { data: Tree[]; next?: string }')
    expect(text).toContain('export interface Page_2 { data: number[]; next?: string }')
    expect(line('GET /a/error')).toContain('Promise<Client_2>') // an alias of an interface has that interface's name
    for (const [, options] of resolutions)
      expect(frontendErrors(root, `const { row } = await client['GET /a']()\nreturn row.id.toFixed()`, options)).toBe(
        '',
      )
    expect(frontendErrors(root, `const { row } = await client['GET /a']()\nreturn row.double()`)).toContain('TS2339')
  })

  it('8.6 is the same when the roles of an earlier build lie about, and when none does', async () => {
    const root = await builtCopy('test/edge/probe', ['insider'])
    const first = emittedOf(root, 'client.d.ts')
    await buildProject(root, ['insider', 'outsider'])
    expect(emittedOf(root, 'client.d.ts')).toContain("'outsider'")
    await buildProject(root, ['insider'])
    expect(emittedOf(root, 'client.d.ts')).toBe(first)
  })
})

describe('8.7 openapi.json', () => {
  it.each([
    ['the example', 'examples/orders', ['staff', 'manager', 'customer']],
    ['the probe', 'test/edge/probe', ['insider']],
    ['a port of NestJS', 'test/build/nest', []],
  ])('of %s is valid, and openapi-typescript makes types of it that compile', async (_what, source, roles) => {
    const root = await builtCopy(source, roles)
    const document = JSON.parse(emittedOf(root, 'openapi.json'))
    const { valid, errors } = await new Validator().validate(structuredClone(document))
    expect([valid, errors]).toEqual([true, undefined])
    const folder = temporaryFolder()
    const types = `${astToString(await openapiTS(document))}
export type Bodies = { [P in keyof paths]: paths[P] extends { post: { requestBody: { content: { 'application/json': infer B } } } } ? B : never }
`
    fs.writeFileSync(path.join(folder, 'types.ts'), types)
    const options = ['--noEmit', '--strict', '--target', 'es2022', '--ignoreConfig', path.join(folder, 'types.ts')]
    expect(spawnSync(process.execPath, [tsc, ...options], { encoding: 'utf8', cwd: folder }).stdout).toBe('')
    expect(types).toContain('export interface paths')
  })

  it('requests have what schemas take, and results what handlers give', async () => {
    const { document } = await evaluatedProject(
      `@Post() create(@Body(z.object({ price: z.string().transform(Number), note: z.string().default('') })) body: { price: number; note: string }) { return body }
  @Get() list(@Query(z.object({ page: z.number().default(1), q: z.string() })) query: { page: number }, @Header('x-own', z.string()) _own: string) { return query }`,
      `import * as z from 'zod'`,
    )
    expect(bodyOf(document)).toMatchObject({ required: ['price'], properties: { price: { type: 'string' } } })
    const { post, get } = document.paths['/a']
    expect(post.responses['200'].content['application/json'].schema).toEqual({
      type: 'object',
      properties: { price: { type: 'number' }, note: { type: 'string' } },
      required: ['price', 'note'],
    })
    expect(
      get.parameters.map(({ name, required = false }: { name: string; required?: boolean }) => [name, required]),
    ).toEqual([
      ['page', false],
      ['q', true],
      ['x-own', true],
    ])
  })

  // contract 3.7
  it('a route for devices asks for the header, and answers 403 device_required', async () => {
    const { root, document } = await evaluatedProject(
      `@Get('open') open() { return 1 }
  @Get('user', { auth: true }) user() { return 1 }
  @Get('device', { auth: { device: true } }) device() { return 1 }
  @Post('once', { auth: { device: 'once', role: 'user' } }) once(@Header('Device-Assertion') own: string | undefined) { return own }`,
    )
    const of = (method: string, name: string) => document.paths[`/a/${name}`][method]
    const codesOf = ({ responses }: { responses: Record<string, { content: Record<string, { examples: object }> }> }) =>
      Object.keys(responses['403']?.content['application/json']?.examples ?? {})
    const codes = [of('get', 'open'), of('get', 'user'), of('get', 'device'), of('post', 'once')].map(codesOf)
    expect(codes).toEqual([[], [], ['device_required'], ['forbidden', 'device_required']])
    const { examples } = of('get', 'device').responses['403'].content['application/json']
    expect(examples.device_required.value).toMatchObject({ error: 'device_required', status: 403 })
    expect([of('get', 'open').parameters, of('get', 'user').parameters]).toEqual([undefined, undefined])
    expect(of('get', 'device').parameters).toEqual([
      expect.objectContaining({ name: 'device-assertion', in: 'header', required: true }),
    ])
    expect(of('post', 'once').parameters).toHaveLength(1) // header names have no case
    expect([of('get', 'device').description, of('post', 'once').description]).toEqual([
      'Admits: attested device.',
      'Admits: role user, attested device, once.',
    ])
    expect(emittedOf(root, 'client.d.ts')).toContain('Admits: attested device. ')
    const { valid, errors } = await new Validator().validate(structuredClone(document))
    expect([valid, errors]).toEqual([true, undefined])
  })
})
