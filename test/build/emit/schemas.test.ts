/** Schemas in the bundle, in the documents and in the route table (contract 2.8, 8.4, 8.7). */
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createValidators } from '../../../runtime/schemas.ts'
import { bodyOf, evaluatedProject, frontendErrors } from '../../support/emitted.ts'
import { buildProject, rendered, temporaryProject } from '../../support/project.ts'

describe('2.8 a schema', () => {
  it('that is none keeps the worker from starting, and says whose it is', () => {
    expect(() => createValidators([[{}, '@Body of A.create', 'body']])).toThrow(
      '@Body of A.create is given something that is no Standard Schema',
    )
    for (const none of [undefined, null, 7, () => 7, { '~standard': {} }, { '~standard': null }]) {
      expect(() => createValidators([[none, 'x', 'body']])).toThrow(TypeError)
    }
  })

  it('stands at the end of its file: names of the file, of its imports and below it are in its reach', async () => {
    const root = temporaryProject({
      'src/app.module.ts': `import { Body, Controller, Module, Post } from '@stack/backend'
import { shape as imported } from './shape'
@Controller('/a', { auth: false }) export class A {
  @Post('own') own(@Body(own) body: string) { return body }
  @Post('imported') imported(@Body(imported.text) body: string) { return body }
  @Post('inline') inline(@Body({ '~standard': imported.text['~standard'] } /* a // comment */) body: string) { return body }
}
const own = imported.text // not exported
@Module({ controllers: [A] }) export class AppModule {} // no line break at the end`,
      'src/shape.ts': `export const shape = { text: { '~standard': { version: 1 as const, vendor: 'x', validate: (value: unknown) => ({ value: String(value) }) } } }`,
    })
    const result = await buildProject(root)
    expect(rendered(root, result)).toBe('')
    expect(result.built?.table.routes.map(({ parameters }) => parameters)).toEqual([
      [{ from: 'body', schema: 0 }],
      [{ from: 'body', schema: 1 }],
      [{ from: 'body', schema: 2 }],
    ])
  })
})

describe('8.7 what JSON Schema cannot say', () => {
  const cases = [
    [
      'zod',
      `import * as z from 'zod'\nconst schema = z.object({ at: z.coerce.date(), deep: z.object({ big: z.bigint().optional() }), price: z.string().transform(Number), map: z.map(z.string(), z.number()), own: z.custom<string>(), kept: z.array(z.int()) })`,
      '"at" (date), "deep.big" (bigint), "map" (map), "own" (custom)',
    ],
    [
      'valibot',
      `import * as v from 'valibot'\nconst schema = v.object({ at: v.date(), deep: v.object({ big: v.optional(v.bigint()) }), price: v.pipe(v.string(), v.transform(Number)), own: v.custom<string>(() => true), kept: v.array(v.pipe(v.number(), v.integer())) })`,
      '"at" (date), "deep.big" (bigint), "own" (custom)',
    ],
    [
      'arktype',
      `import { type } from 'arktype'\nconst schema = type({ at: 'Date', deep: { 'big?': 'bigint' }, price: 'string.numeric.parse', kept: 'number.integer[]' })`,
      '"at" (date), "deep.big" (domain)',
    ],
  ]

  it.each(cases)('is left out of a schema of %s, and the rest stays', async (_library, imports, unsaid) => {
    const { found, document } = await evaluatedProject(
      '@Post() create(@Body(schema) _body: unknown) { return 1 }',
      imports,
    )
    expect(found).toMatchObject([{ slug: 'schema-partly-unsaid', at: 'schema' }])
    for (const one of unsaid.split(', ')) expect(found[0]!.message).toContain(one)
    expect(found[0]!.message).not.toMatch(/price|kept/)
    expect(bodyOf(document)).toMatchObject({
      type: 'object',
      properties: { at: {}, price: { type: 'string' }, kept: { type: 'array', items: { type: 'integer' } } },
    })
    expect(JSON.stringify(document)).not.toContain('x-stack')
    expect((await new Validator().validate(document)).errors).toBeUndefined()
  })

  it.each([
    [
      'zod',
      `import * as z from 'zod'\nconst schema = z.object({ at: z.iso.datetime().transform((text) => new Date(text)), any: z.unknown() })`,
    ],
    [
      'valibot',
      `import * as v from 'valibot'\nconst schema = v.object({ at: v.pipe(v.string(), v.isoTimestamp(), v.toDate()), any: v.unknown() })`,
    ],
    ['arktype', `import { type } from 'arktype'\nconst schema = type({ at: 'string.date.iso.parse', any: 'unknown' })`],
  ])('is nothing of a schema of %s that takes text and converts it', async (_library, imports) => {
    const { found, document } = await evaluatedProject(
      '@Post() create(@Body(schema) _body: unknown) { return 1 }',
      imports,
    )
    expect(found).toEqual([])
    expect(bodyOf(document)).toMatchObject({ properties: { at: { type: 'string' } } })
  })

  it.each([
    [
      'zod',
      `import * as z from 'zod'\nconst Node = z.object({ name: z.string(), get next() { return Node.optional() } })`,
    ],
    [
      'valibot',
      `import * as v from 'valibot'\nconst Node: v.GenericSchema<{ name: string; next?: unknown }> = v.object({ name: v.string(), next: v.optional(v.lazy(() => Node)) })`,
    ],
    [
      'arktype',
      `import { type } from 'arktype'\nconst Node = type.module({ node: { name: 'string', 'next?': 'node' } }).node`,
    ],
  ])(
    '8.6 a schema of %s that contains itself is a component, of the same name in every build',
    async (_library, imports) => {
      const build = () => evaluatedProject('@Post() create(@Body(Node) _body: unknown) { return 1 }', imports)
      const { found, document, root } = await build()
      expect(found).toEqual([])
      expect((await new Validator().validate(structuredClone(document))).errors).toBeUndefined()
      const [name] = Object.keys(document.components.schemas)
      expect(JSON.stringify(document.components.schemas)).toContain(`#/components/schemas/${name}`)
      expect(document).toEqual((await build()).document)
      expect(frontendErrors(root, `await client['POST /a']({ body: { name: 'a', next: { name: 'b' } } })`)).toBe('')
      expect(frontendErrors(root, `await client['POST /a']({ body: { name: 'a', next: { name: 7 } } })`)).toContain(
        'TS2322',
      )
    },
  )
})

describe('2.8 a schema is evaluated at build', () => {
  const use = '@Post() create(@Body(given()) _body: unknown) { return 1 }'

  it.each([
    ['nothing', 'const given = (): any => undefined', 'undefined'],
    ['a plain object', `const given = () => ({ sku: 'string' })`, 'a plain object'],
    ['a function', 'const given = () => () => 1', 'a function'],
    ['a class', 'const given = () => class Order { sku = 1 }', 'a class'],
    ['a promise', 'const given = async () => 1', 'a promise'],
    ['text', `const given = () => 'string'`, 'a string'],
    [
      'a schema of zod 3.23',
      'const given = () => ({ _def: {}, parse: (value: unknown) => value, safeParse: (value: unknown) => value })',
      'a schema of a library version without Standard Schema',
    ],
    ['a `~standard` without a function', `const given = () => ({ '~standard': { version: 1 } })`, 'a plain object'],
  ])('%s is refused at its place', async (_what, imports, named) => {
    const { found, result } = await evaluatedProject(use, imports)
    expect(found).toMatchObject([{ slug: 'schema-value-not-standard', at: 'given()' }])
    expect(found[0]!.message).toContain(`@Body is given ${named} here`)
    expect(result.built).toBeUndefined()
  })

  it('one that a circular import leaves undefined is refused, and accepted where the circle is broken', async () => {
    const files = (uses: string) => ({
      'src/schemas.ts': `import './uses'\nexport var order = { '~standard': { version: 1 as const, vendor: 'x', validate: (value: unknown) => ({ value }) } }`,
      'src/uses.ts': uses,
    })
    const body = '@Post() create(@Body(bound()) _body: unknown) { return 1 }'
    const imports = `import './schemas'\nimport { bound } from './uses'`
    const early = await evaluatedProject(
      body,
      imports,
      files(`import { order } from './schemas'\nconst taken = order\nexport const bound = () => taken`),
    )
    expect(early.found).toMatchObject([{ slug: 'schema-value-not-standard', at: 'bound()' }])
    expect(early.result.refusals[0]!.fix).toContain('circular import')
    const late = await evaluatedProject(
      body,
      imports,
      files(`import { order } from './schemas'\nexport const bound = () => order`),
    )
    expect(late.found).toEqual([])
  })

  it('code that throws is named with the line, and nothing of this process is in its environment', async () => {
    process.env['EMIT_TEST_SECRET'] = 'not for the project'
    onTestFinished(() => {
      delete process.env['EMIT_TEST_SECRET']
    })
    const shape = `import * as z from 'zod'
if (process.env.EMIT_TEST_SECRET !== undefined) throw new Error(process.env.EMIT_TEST_SECRET)
export const shape = z.string()
  throw new RangeError(Object.keys(process.env).join())`
    const { found, result, document } = await evaluatedProject(
      '@Post() create(@Body(shape) _body: unknown) { return 1 }',
      `import { shape } from './shape'`,
      { 'src/shape.ts': shape },
    )
    expect(found).toEqual([
      {
        slug: 'schema-not-evaluated',
        file: 'src/shape.ts',
        at: 'throw new RangeError(Object.keys(process.env).join())',
        message: 'evaluating the schemas failed here: RangeError: ',
      },
    ])
    expect(result.built).toBeDefined()
    expect(bodyOf(document)).toEqual({ type: 'string' }) // as the type of the schema says
  })

  it('code that does not end is given up, and its file is named', async () => {
    const { found, result } = await evaluatedProject(
      '@Post() create(@Body(shape) _body: unknown) { return 1 }',
      `import { shape } from './shape'`,
      { 'src/shape.ts': `import * as z from 'zod'\nexport const shape = z.string()\nfor (;;) shape.optional()` },
    )
    expect(found).toMatchObject([{ slug: 'schema-not-evaluated', file: 'src/shape.ts' }])
    expect(found[0]!.message).toContain('did not end')
    expect(result.built).toBeDefined()
  }, 30_000)

  it('modules of the Workers runtime are there, without bindings', async () => {
    const imports = `import { env, WorkerEntrypoint } from 'cloudflare:workers'\nimport * as z from 'zod'
export class Other extends WorkerEntrypoint {}
const shape = z.enum([(env as { KIND?: string }).KIND ?? 'none'])`
    const { found, document } = await evaluatedProject(
      '@Post() create(@Body(shape) _body: unknown) { return 1 }',
      imports,
    )
    expect(found).toEqual([])
    expect(bodyOf(document)).toEqual({ type: 'string', enum: ['none'] })
  })

  it.each([
    ['zod', `import * as z from 'zod'`, 'z.date()', 'a Date'],
    ['zod', `import * as z from 'zod'`, 'z.bigint()', 'a bigint'],
    ['valibot', `import * as v from 'valibot'`, 'v.date()', 'a Date'],
    [
      'a library that says nothing',
      `const own = { '~standard': { version: 1 as const, vendor: 'own', validate: (value: unknown) => (typeof value === 'number' ? { value } : { issues: [{ message: 'no' }] }) } }`,
      'own',
      'a number',
    ],
  ])('a parameter’s schema of %s that refuses every text draws a warning', async (_library, imports, schema, takes) => {
    const { found } = await evaluatedProject(`@Get() list(@Query('q', ${schema}) _q: unknown) { return 1 }`, imports)
    expect(found).toMatchObject([{ slug: 'text-refused-by-schema', at: schema }])
    expect(found[0]!.message).toContain(takes)
  })

  it.each([
    ['zod', `import * as z from 'zod'`, 'z.coerce.bigint()'],
    ['zod', `import * as z from 'zod'`, 'z.number().min(10)'],
    ['valibot', `import * as v from 'valibot'`, 'v.pipe(v.string(), v.toDate())'],
    [
      'a library that says nothing',
      `const own = { '~standard': { version: 1 as const, vendor: 'own', validate: (value: unknown) => ({ value: Number(value) }) } }`,
      'own',
    ],
  ])('one of %s that takes text, or what text is converted to, draws none', async (_library, imports, schema) => {
    const { found } = await evaluatedProject(`@Get() list(@Query('q', ${schema}) _q: unknown) { return 1 }`, imports)
    expect(found.filter(({ slug }) => slug === 'text-refused-by-schema')).toEqual([])
  })

  it('8.4 what becomes of text is in the table', async () => {
    const { result } = await evaluatedProject(
      `@Get(':id') list(
        @Param('id', z.int()) _id: number,
        @Query('ids', z.array(z.number()).optional()) _ids: unknown,
        @Query('text', z.string().optional()) _text: unknown,
        @Query(z.object({ page: z.number().nullable().optional(), kind: z.literal([1, 2]).optional(), name: z.string().optional() })) _all: unknown,
      ) { return 1 }`,
      `import * as z from 'zod'`,
    )
    expect(result.built!.table.routes[0]!.parameters).toEqual([
      { from: 'param', name: 'id', position: 0, schema: 0, coerce: { one: ['number'] } },
      { from: 'query', name: 'ids', schema: 1, coerce: { list: ['number'] } },
      { from: 'query', name: 'text', schema: 2 },
      {
        from: 'wholeQuery',
        schema: 3,
        coerce: {
          named: [
            ['page', { one: ['number'] }],
            ['kind', { one: ['number'] }],
          ],
        },
      },
    ])
  })
})
