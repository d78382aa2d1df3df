/** What is emitted: the driver only where a database is used, constants of packages, schemas, the client's types (contract 8). */
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { SourceMap } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Miniflare } from 'miniflare'
import openapiTS, { astToString } from 'openapi-typescript'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { legend } from '../../build/emit/legend.ts'
import { createValidators } from '../../runtime/schemas.ts'
import { packageRoot } from '../support/command.ts'
import {
  buildProject,
  copyProject,
  linkPackages,
  rendered,
  temporaryFolder,
  temporaryProject,
} from '../support/project.ts'

const outOf = (root: string) => fs.readdirSync(path.join(root, '.stack/out')).sort()
const worker = (root: string) => fs.readFileSync(path.join(root, '.stack/out/worker.js'), 'utf8')

async function built(files: Record<string, string>): Promise<string> {
  const root = temporaryProject(files)
  const result = await buildProject(root, ['staff'])
  expect(rendered(root, result)).toBe('')
  return root
}

describe('5.4 the database driver', () => {
  const app = (rule: string, body = '', imports = '') => `import { Controller, Get, Module } from '@stack/backend'
${imports}
@Controller('/a', { auth: ${rule} }) export class A { @Get() list() { ${body} return 1 } }
@Module({ controllers: [A] }) export class AppModule {}
`
  const database = `import { Database } from '@stack/backend'`

  it.each([
    ['a public route', app('false')],
    ['a route that only asks for a user', app('true')],
    ['a route that asks for a confirmed address', app('{ verifiedEmail: true }')],
  ])('is not in the bundle of a project with nothing but %s', async (_what, source) => {
    const root = await built({ 'src/app.module.ts': source })
    expect(outOf(root)).toEqual(['worker.js', 'worker.js.map'])
    for (const word of ['DATABASE_URL', 'driver.js', 'begin']) expect(worker(root)).not.toContain(word)
  })

  it.each([
    ['a role', { 'src/app.module.ts': app(`{ role: 'staff' }`) }],
    ['a query', { 'src/app.module.ts': app('false', 'void Database.sql`select 1`;', database) }],
    [
      'a query elsewhere',
      {
        'src/app.module.ts': app('false', 'void rows();', `import { rows } from './rows'`),
        'src/rows.ts': `import * as sdk from '@stack/backend'\nexport const rows = () => sdk.Database.query('select 1')`,
      },
    ],
    [
      'a package that uses the SDK',
      {
        'src/app.module.ts': app('false', 'void rows();', `import { rows } from 'shop-rows'`),
        'node_modules/shop-rows/package.json': '{ "name": "shop-rows", "main": "index.js" }',
        'node_modules/shop-rows/index.js': `import { Database } from '@stack/backend'\nexport const rows = () => Database.query('select 1')`,
      },
    ],
  ])('is a module of its own in that of one with %s', async (_what, files) => {
    const root = await built(files)
    // beside what several of them share
    const names = outOf(root).filter((name) => !/^(?:chunk|pool)-/.test(name))
    expect(names).toEqual(['driver.js', 'driver.js.map', 'worker.js', 'worker.js.map'])
  })
})

describe('a constant of a package is what its type says', () => {
  const files = (rule: string, declarations: string) => ({
    'src/app.module.ts': `import { Controller, Get, Module } from '@stack/backend'
import { Roles, staff } from './constants'
@Controller('/a', { auth: ${rule} }) export class A { @Get() list() { return 1 } }
@Module({ controllers: [A] }) export class AppModule {}
void [Roles, staff]`,
    'src/constants.ts': `export { Roles, staff } from '@acme/roles'`,
    'node_modules/@acme/roles/package.json': '{ "name": "@acme/roles", "main": "index.js", "types": "index.d.ts" }',
    'node_modules/@acme/roles/index.js': `export const Roles = { Staff: 'staff' }; export const staff = { role: 'staff' }`,
    'node_modules/@acme/roles/index.d.ts': declarations,
  })
  const sound = `export declare enum Roles { Staff = 'staff' }\nexport declare const staff: { readonly role: 'staff' }`

  it.each([
    ['an enum', '{ role: Roles.Staff }', sound],
    ['an object of literals', 'staff', sound],
    ['a member of one', '{ role: staff.role }', sound],
    ['a string', '{ role: staff }', sound.replace("{ readonly role: 'staff' }", "'staff'")],
  ])('%s', async (_what, rule, declarations) => {
    const result = await buildProject(temporaryProject(files(rule, declarations)), ['staff'])
    expect(result.built?.table.routes).toMatchObject([
      { gate: { required: true, role: 'staff', decidedBy: 'controller' } },
    ])
  })

  it.each([
    ['a type that is wider', 'staff', sound.replace("role: 'staff'", 'role: string')],
    ['a type of two', '{ role: staff }', sound.replace("{ readonly role: 'staff' }", "'staff' | 'guest'")],
    ['an option that may be missing', 'staff', sound.replace('role:', 'role?:')],
    ['a boolean', 'staff', sound.replace("{ readonly role: 'staff' }", 'boolean')],
    ['any', 'staff', sound.replace("{ readonly role: 'staff' }", 'any')],
    ['a call', 'staff()', sound.replace("{ readonly role: 'staff' }", '() => false')],
    ['a member that is not there', '{ role: Roles.Guest }', sound],
    ['a package without types', 'staff', ''],
  ])('%s is refused', async (_what, rule, declarations) => {
    const result = await buildProject(temporaryProject(files(rule, declarations)), ['staff'])
    expect(result.built).toBeUndefined()
    expect(result.refusals.map(({ slug }) => slug)).toContain('option-not-constant')
  })

  it('a misspelt key in it never opens a route', async () => {
    const declarations = sound.replace('{ readonly role:', '{ readonly rolle:')
    const result = await buildProject(temporaryProject(files('staff', declarations)), ['staff'])
    expect(result.refusals.map(({ slug }) => slug)).toContain('option-unknown')
  })
})

describe('8.5 the worker begins with a legend', () => {
  const source = `import { Body, Controller, Get, Module, Post } from '@stack/backend'
import * as v from 'valibot'
@Controller('/a', { auth: false })
export class A { @Get() list() { return [] } @Post() add(@Body(v.string()) text: string) { return text } }
@Module({ controllers: [A] }) export class AppModule {}
`

  it('of the generated parts, and of the files that their classes and schemas come from', async () => {
    const root = temporaryProject({ 'src/app.module.ts': source })
    linkPackages(root)
    await buildProject(root)
    const [comment = '', code = ''] = worker(root).split(/(?<=\*\/\n)/)
    expect(comment).toContain(' * Written by "stack build" from src/app.module.ts. worker.js.map leads')
    expect(comment).toContain(' *   match: finds the route of a method and a path, for 2 routes\n')
    expect(comment).toContain(' *   src/app.module.ts: A, 1 schema\n')
    expect(comment.endsWith(' */\n')).toBe(true)
    expect(code).toMatch(/^(?:import|var)\b/)
  })

  it('which no name of a file ends', () => {
    const place = { file: 'src/x*/\n.ts', start: 0, end: 0 }
    const schema = { place, injector: 'Body', what: '', whole: 'body' }
    const table = { databaseRoles: { caller: '', service: '' }, container: [], routes: [], webhooks: [] }
    const linked = { classes: [], schemas: [schema], routes: [], table, usesDatabase: false, usesServices: false }
    const text = legend(linked, 'src/app.module.ts')
    expect(text).toContain(' *   src/x* / .ts: 1 schema\n')
    expect(text.indexOf('*/')).toBe(text.length - 3)
  })
})

describe('8.5 a source map', () => {
  it('leads from the minified bundle to line and column of what threw, decorators and schemas beside it', async () => {
    const source = `import { Body, Controller, Get, Module, Param, Post, Query } from '@stack/backend'
import * as v from 'valibot'

@Controller('/a', { auth: false })
export class A {
  @Get(':id') show(@Param('id') id: string, @Query('q') q?: string) { if (q) throw new RangeError(id); return id }

  @Post()
  create(@Body(v.object({ a: v.string() })) { a }: { a: string }) {
    const text = a.trim()
    return text.length > 0 ? text : this.refuse(text)
  }

  private refuse(text: string): never { throw new TypeError(\`no text: \${text}\`) }
}

@Module({ controllers: [A] }) export class AppModule {}
`
    const root = temporaryProject({ 'src/app.module.ts': source })
    linkPackages(root)
    expect(rendered(root, await buildProject(root))).toBe('')
    const contents = worker(root)
    const lines: string[] = []
    const runtime = new Miniflare({
      cf: false,
      compatibilityDate: '2026-07-30',
      compatibilityFlags: ['nodejs_compat'],
      modules: [{ type: 'ESModule', path: 'worker.js', contents }],
      structuredWorkerdLogs: true,
      handleStructuredLogs({ message }: { message: string }) {
        lines.push(message)
      },
    })
    onTestFinished(() => runtime.dispose())
    const map = new SourceMap(JSON.parse(fs.readFileSync(path.join(root, '.stack/out/worker.js.map'), 'utf8')))
    const thrownAt = async (url: string, init: RequestInit) => {
      const seen = lines.length
      const response = await runtime.dispatchFetch(url, init as never)
      expect(response.status).toBe(500)
      await response.text()
      while (lines.length === seen) await new Promise((resolve) => setTimeout(resolve, 10))
      const { stack } = JSON.parse(lines.at(-1)!) as { stack: string }
      const [, line, column] = /worker\.js:(\d+):(\d+)/.exec(stack)!
      const entry = map.findEntry(Number(line) - 1, Number(column) - 1) as {
        originalLine: number
        originalColumn: number
      }
      return source.split('\n')[entry.originalLine]!.slice(entry.originalColumn)
    }
    expect(await thrownAt('http://x/a/7?q=1', {})).toMatch(/^new RangeError\(id\)/)
    const headers = { 'content-type': 'application/json' }
    expect(await thrownAt('http://x/a', { method: 'POST', headers, body: '{"a":" "}' })).toMatch(/^new TypeError/)
  })
})

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

/** A project with one controller, and the packages of this repository. */
async function evaluatedProject(body: string, imports = '', files: Record<string, string> = {}) {
  const source = `import { Body, Controller, Get, Header, Module, Param, Post, Query } from '@stack/backend'
${imports}
@Controller('/a', { auth: false }) export class A {
  ${body}
}
@Module({ controllers: [A] }) export class AppModule {}
`
  const root = temporaryProject({ 'src/app.module.ts': source, ...files })
  linkPackages(root)
  const result = await buildProject(root)
  const found = result.refusals.map(({ slug, message, place }) => ({
    slug,
    message,
    at: (files[place.file] ?? source).slice(place.start, place.end),
    file: place.file,
  }))
  const document = result.built ? JSON.parse(emittedOf(root, 'openapi.json')) : undefined
  return { root, result, found, document }
}

const emittedOf = (root: string, name: string) => fs.readFileSync(path.join(root, '.stack', name), 'utf8')
const bodyOf = (document: {
  paths: Record<string, Record<string, { requestBody: { content: Record<string, { schema: unknown }> } }>>
}) => document.paths['/a']!['post']!.requestBody.content['application/json']!.schema

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

const tsc = path.join(packageRoot, 'node_modules/typescript/bin/tsc')

/** A plain frontend beside a client: neither this package nor the project's own options, and no packages at all. */
function frontendErrors(root: string, use: string, options: Record<string, unknown> = {}): string {
  const folder = temporaryFolder()
  for (const name of ['client.d.ts', 'client.js'])
    fs.copyFileSync(path.join(root, '.stack', name), path.join(folder, name))
  const source = `import { createClient, ClientError, type Client } from './client.js'
const client: Client = createClient('http://127.0.0.1', { token: async () => undefined })
void ClientError
export async function use() {
${use}
}
`
  const compilerOptions = {
    target: 'es2022',
    lib: ['dom', 'es2022'],
    types: [],
    strict: true,
    noEmit: true,
    ...options,
  }
  fs.writeFileSync(path.join(folder, 'use.ts'), source)
  fs.writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }')
  fs.writeFileSync(
    path.join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['use.ts', 'client.d.ts'] }),
  )
  return spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' }).stdout
}

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
})
