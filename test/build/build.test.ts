/** The compiler from the outside: the programs it recognises, the files it emits, and none for a refused project (contract 8). */
import * as fs from 'node:fs'
import { SourceMap } from 'node:module'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildProject, rendered, temporaryProject } from '../support/project.ts'
import { seed, seedable } from '../support/seed.ts'

const slugs = async (files: Record<string, string>) => {
  const root = temporaryProject(files)
  const result = await buildProject(root, ['staff'])
  return { root, result, slugs: result.refusals.map(({ slug }) => slug) }
}

/** @returns a root module with one controller of the given body. */
const controller = (body: string, imports = '', options = '') => `
import { Controller, Get, Module, Param, Post } from '@stack/backend'
${imports}
@Controller('/orders'${options})
export class OrdersController {
${body}
}

@Module({ controllers: [OrdersController] })
export class AppModule {}
`

const table = async (files: Record<string, string>) => {
  const { root, result } = await slugs(files)
  expect(rendered(root, result)).toBe('')
  return result.built!.table
}

describe('decorators are recognised by their import, never by spelling', () => {
  it.each([
    ['an alias', `import { Controller as C, Get as G, Module as M } from '@stack/backend'`, '@C("/x")', '@G()', '@M'],
    ['a namespace', `import * as sdk from '@stack/backend'`, '@sdk.Controller("/x")', '@sdk.Get()', '@sdk.Module'],
    ['a re-export', `import { Controller, Get, Module } from './sdk'`, '@Controller("/x")', '@Get()', '@Module'],
    ['a re-exported namespace', `import { sdk } from './sdk'`, '@sdk.Controller("/x")', '@(sdk.Get())', '@sdk.Module'],
  ])('%s', async (_what, imports, controllerMark, getMark, moduleMark) => {
    const { routes } = await table({
      'src/app.module.ts': `${imports}
${controllerMark} export class X { ${getMark} list() { return 1 } }
${moduleMark}({ controllers: [X] }) export class AppModule {}`,
      'src/sdk.ts': `export { Controller, Get, Module } from '@stack/backend'\nexport * as sdk from '@stack/backend'`,
    })
    expect(routes).toMatchObject([{ method: 'GET', path: '/x', gate: { required: true, decidedBy: 'default' } }])
  })

  it('a project’s own decorators stay, before and after one of ours', async () => {
    const { result } = await slugs({
      'src/app.module.ts': controller(
        `
  @Cached()
  @Get('a')
  a() { return 1 }

  field = 1

  @Get('b')
  @Cached()
  ['b']() { return 2 }`,
        `const Cached = () => (_t: object, _k: string, d: PropertyDescriptor) => d`,
      ),
    })
    expect(result.refusals).toEqual([])
    expect(result.built?.table.routes).toHaveLength(2)
  })

  it('somebody else’s @Get is left where it is', async () => {
    const { result } = await slugs({
      'src/app.module.ts': `import { Module } from '@stack/backend'
import { Get } from './other'
export class X { @Get() list() {} }
@Module({ providers: [X] }) export class AppModule {}`,
      'src/other.ts': 'export const Get = () => (_target: object, _key: string) => {}',
      'tsconfig.json': '{ "compilerOptions": { "experimentalDecorators": true } }',
    })
    expect(result.built?.table.routes).toEqual([])
  })
})

describe('a rule is evaluated at build, or refused', () => {
  const gate = async (rule: string, imports = '', files: Record<string, string> = {}) => {
    const source = controller(`  @Get('', { auth: ${rule} }) list() { return 1 }`, imports)
    const [route] = (await table({ 'src/app.module.ts': source, ...files })).routes
    return route!.gate
  }

  it.each([
    ['a constant', `rules.staff`, `const rules = { staff: { role: 'staff' } } as const`],
    ['an imported constant', `rules.staff`, `import { rules } from './rules'`],
    ['an imported constant through a barrel', `staff`, `import { staff } from './barrel'`],
    ['a namespace', `all.rules.staff`, `import * as all from './rules'`],
    ['a tsconfig path', `staff`, `import { staff } from '#rules'`],
    ['an enum', `{ role: Role.Staff }`, `enum Role { Staff = 'staff' }`],
    ['a template', `{ role: \`\${"st"}aff\` }`, ''],
    ['a sum', `{ role: 'st' + 'aff' }`, ''],
    ['a spread', `{ ...base, role: 'staff' }`, `const base = { role: 'other', required: true }`],
    ['satisfies', `({ role: 'staff' } satisfies object)`, ''],
  ])('%s', async (_what, rule, imports) => {
    const found = await gate(rule, imports, {
      'src/rules.ts': `export const staff = { role: 'staff' }\nexport const rules = { staff }`,
      'src/barrel.ts': `export * from './rules'`,
      'tsconfig.json':
        '{ "compilerOptions": { "experimentalDecorators": true, "paths": { "#rules": ["./src/rules.ts"] } } }',
    })
    expect(found).toEqual({ required: true, role: 'staff', decidedBy: 'route' })
  })

  it.each([
    ['a call', `rule()`, `const rule = () => false`],
    ['a let', `rule`, `let rule = false`],
    ['the environment', `process.env.OPEN`, ''],
    ['a condition', `1 > 0 ? false : true`, ''],
    ['a computed key', `{ ['required']: false, [String('role')]: 'x' }`, ''],
    ['a getter', `{ get required() { return false } }`, ''],
    ['a spread of a call', `{ ...rule() }`, `const rule = () => ({ required: false })`],
    [
      'a member before an unknown spread',
      `base.auth`,
      `const f = () => ({ auth: true }); const base = { auth: false, ...f() }`,
    ],
    ['a name that two modules export', `rule`, `import { rule } from './both'`],
    ['a constant that refers to itself', `rule`, `const rule: unknown = { required: rule }`],
  ])('%s is refused', async (_what, rule, imports) => {
    const { slugs: found } = await slugs({
      'src/app.module.ts': controller(`  @Get('', { auth: ${rule} }) list() { return 1 }`, imports),
      'src/one.ts': 'export const rule = false',
      'src/two.ts': 'export const rule = true',
      'src/both.ts': `export * from './one'\nexport * from './two'`,
    })
    expect(new Set(found)).toEqual(new Set(['option-not-constant']))
  })

  it('two decorators of one kind on a method have each their own rule', async () => {
    const { routes } = await table({
      'src/app.module.ts': controller(`
  @Get('open', { auth: false })
  @Get('secret', { auth: { role: 'staff' } })
  list() { return 1 }`),
    })
    expect(routes.map(({ path, gate: { required, role } }) => [path, required, role])).toEqual([
      ['/orders/open', false, undefined],
      ['/orders/secret', true, 'staff'],
    ])
  })

  it.each([
    ['a misspelt key', `{ verifedEmail: true }`, ['option-unknown']],
    ['a key twice', `{ role: 'staff', role: 'staff' }`, ['option-twice']],
    ['undefined', `{ role: undefined }`, ['option-malformed']],
    ['text', `'false'`, ['option-malformed']],
    ['zero', `0`, ['option-malformed']],
    ['null', `null`, ['option-malformed']],
  ])('%s never opens a route: %s', async (_what, rule, expected) => {
    const { slugs: found } = await slugs({
      'src/app.module.ts': controller(`  @Get('', { auth: ${rule} }) list() { return 1 }`),
    })
    expect(found).toEqual(expected)
  })
})

describe('no decorator of the SDK is lost in silence', () => {
  it.each([
    ['a variable', `const Fetch = Get`, `@Fetch('x') b() {}`],
    ['a wrapper', `const Open = (p: string) => Get(p, { auth: false })`, `@Open('x') b() {}`],
    ['an import assignment', `import sdk = require('@stack/backend')\nconst G = sdk.Get`, `@G('x') b() {}`],
    ['a class in a function', `export function f() { @Controller('/y') class Y { @Get() a() {} } return Y }`, ''],
    ['a class in a namespace', `export namespace N { @Controller('/y') export class Y { @Get() a() {} } }`, ''],
    ['a constructor’s parameter', '', `constructor(@Param('id') id: string) {}`],
    ['a helper’s parameter', '', `helper(@Param('id') id: string) {}`],
    ['a setter', '', `set x(@Param('id') value: string) {}`],
  ])('%s', async (_what, imports, body) => {
    const { result, slugs: found } = await slugs({
      'src/app.module.ts': controller(`  @Get() a() {}\n  ${body}`, imports),
    })
    expect(result.built).toBeUndefined()
    expect(
      found.every((slug) => ['decorator-as-value', 'decorator-misplaced', 'dependency-not-a-class'].includes(slug)),
    ).toBe(true)
  })
})

describe('files', () => {
  const app = `import { Module } from '@stack/backend'
import { X } from '../lib/x'
@Module({ controllers: [X] }) export class AppModule {}`
  const x = `import { Controller, Get } from '@stack/backend'
@Controller('/x') export class X { @Get() list() { return 1 } }`

  it('a class from outside the entry’s folder is read when it is reached', async () => {
    expect((await table({ 'src/app.module.ts': app, 'lib/x.ts': x })).routes).toMatchObject([
      { path: '/x', file: 'lib/x.ts' },
    ])
  })

  it('1.8 every source below the entry’s folder is read, tests and declarations are not', async () => {
    const { slugs: found } = await slugs({
      'src/app.module.ts': app,
      'lib/x.ts': x,
      'src/deep/forgotten.ts': x.replace("'/x'", "'/y'").replace('class X', 'class Forgotten'),
      'src/some.test.ts': x.replace('class X', 'class Tested'),
      'src/some.d.ts': 'declare class Declared {}',
    })
    expect(found).toEqual(['class-not-listed'])
  })

  it('two classes of one name in two files are two classes', async () => {
    const { container } = await table({
      'src/app.module.ts': `import { Module } from '@stack/backend'
import { X } from './a'
import { X as Other } from './b'
@Module({ controllers: [X, Other] }) export class AppModule {}`,
      'src/a.ts': x,
      'src/b.ts': x.replace("'/x'", "'/y'"),
    })
    expect(container.map(({ file }) => file)).toEqual(['src/a.ts', 'src/b.ts'])
  })

  it('a byte order mark and CRLF change no line', async () => {
    const { routes } = await table({
      'src/app.module.ts': `\ufeff${app.replaceAll('\n', '\r\n')}`,
      'lib/x.ts': `\ufeff${x}`,
    })
    expect(routes[0]?.line).toBe(2)
  })
})

describe('the container', () => {
  it('passes dependencies in the order of the parameters, built before their dependents; inherited ones too', async () => {
    const { container } = await table({
      'src/app.module.ts': `import { Controller, Injectable, Module } from '@stack/backend'
import * as parts from './parts'
@Injectable() export class B { constructor(readonly a: parts.A, readonly name = 'b') {} }
@Injectable() export class C extends B {}
@Controller('/x') export class X { constructor(readonly c: C, readonly a: parts.A) {} }
@Module({ controllers: [X], providers: [C, B], imports: [parts.PartsModule] }) export class AppModule {}`,
      'src/parts.ts': `import { Injectable, Module } from '@stack/backend'
@Injectable() export class A {}
@Module({ providers: [A] }) export class PartsModule {}`,
    })
    const names = container.map((component) => component.class)
    expect(names).toEqual(['A', 'C', 'X', 'B'])
    expect(
      container.map(({ dependencies }) => dependencies.map((index) => (index === null ? null : names[index]))),
    ).toEqual([[], ['A', null], ['C', 'A'], ['A', null]])
  })
})

describe('what is written', () => {
  const source = controller(`  @Get(':id')
  show(@Param('id') id: string) {
    if (id === 'x') throw new Error('here')
    return id
  }

  field = 1
  @Get('list') ['computed'.slice(1)]
  () { return 1 }`).replace(
    "@Get('list') ['computed'.slice(1)]\n  () { return 1 }",
    `@Post() ['create']() { return 2 }`,
  )

  it('the bundle, its maps, the table and the role names; nothing else is left behind', async () => {
    const { root, result } = await slugs({ 'src/app.module.ts': source })
    expect(result.built).toBeDefined()
    const out = path.join(root, '.stack/out')
    expect(fs.readdirSync(path.join(root, '.stack')).sort()).toEqual([
      'client.d.ts',
      'client.js',
      'openapi.json',
      'out',
      'roles.d.ts',
      'table.json',
    ])
    expect(fs.readdirSync(out).sort()).toEqual(['worker.js', 'worker.js.map'])
    expect(JSON.parse(fs.readFileSync(path.join(root, '.stack/table.json'), 'utf8'))).toEqual(result.built?.table)
    expect(fs.readFileSync(path.join(root, '.stack/roles.d.ts'), 'utf8')).toContain('"staff": true')
    fs.writeFileSync(path.join(out, 'stale.js'), '')
    await buildProject(root)
    expect(fs.readdirSync(out)).not.toContain('stale.js')
  })

  it('no decorator and no helper reach the bundle; the driver is a module of its own', async () => {
    const { root } = await slugs({
      'src/app.module.ts': `${source}\nexport const rows = () => Database.sql\`select 1\``.replace(
        'Post }',
        'Post, Database }',
      ),
    })
    const worker = fs.readFileSync(path.join(root, '.stack/out/worker.js'), 'utf8')
    for (const forbidden of ['__decorate', '__decorateClass', 'reflect-metadata', 'erased', root]) {
      expect(worker).not.toContain(forbidden)
    }
    expect(worker).toMatch(/import\("\.\/driver\.js"\)/)
    expect(worker.length).toBeLessThan(42_000)
  })

  it('the source map names line and column of the project, and quotes the source as it was written', async () => {
    const { root } = await slugs({ 'src/app.module.ts': source })
    const worker = fs.readFileSync(path.join(root, '.stack/out/worker.js'), 'utf8')
    const map = JSON.parse(fs.readFileSync(path.join(root, '.stack/out/worker.js.map'), 'utf8'))
    const lines = worker.slice(0, worker.search(/Error\(["'`]here/)).split('\n')
    const entry = new SourceMap(map).findEntry(lines.length - 1, lines.at(-1)!.length) as {
      originalSource: string
      originalLine: number
    }
    const written = source.split('\n')
    expect(entry.originalSource).toMatch(/src\/app\.module\.ts$/)
    expect(written[entry.originalLine]).toContain("new Error('here')")
    expect(map.sourcesContent[map.sources.indexOf(entry.originalSource)]).toBe(source)
  })

  it('8.1 a refused project writes nothing and leaves the last good build as it was', async () => {
    const { root } = await slugs({ 'src/app.module.ts': source })
    const before = fs.readFileSync(path.join(root, '.stack/out/worker.js'))
    fs.writeFileSync(path.join(root, 'src/app.module.ts'), source.replace("'/orders'", "'/webhooks/x'"))
    expect((await buildProject(root)).built).toBeUndefined()
    expect(fs.readFileSync(path.join(root, '.stack/out/worker.js'))).toEqual(before)
  })

  it('an import that does not resolve is a refusal at its place', async () => {
    const { result } = await slugs({ 'src/app.module.ts': `import 'nothing-of-that-name'\n${source}` })
    expect(result.refusals).toMatchObject([
      { slug: 'import-lost', place: { file: 'src/app.module.ts', line: 1, column: 8 } },
    ])
  })

  it('two builds of the same sources are byte for byte the same', async () => {
    const [one, two] = [await slugs({ 'src/app.module.ts': source }), await slugs({ 'src/app.module.ts': source })]
    const read = (root: string) => fs.readFileSync(path.join(root, '.stack/out/worker.js'), 'utf8')
    expect(read(one.root)).toBe(read(two.root))
  })
})

describe('8.1 all refusals in one run', () => {
  /** While a file with a module does not parse, refusals that depend on its lists are left out. */
  const ofLists = ['class-not-listed', 'dependency-not-provided', 'export-not-provided']

  it('a project with one mistake of each prints them all, sorted by place, and nothing is written', async () => {
    const { root, result, slugs: found } = await slugs(seed(seedable))
    expect(result.built).toBeUndefined()
    expect(fs.existsSync(path.join(root, '.stack'))).toBe(false)
    expect([...new Set([...found, ...ofLists])].sort()).toEqual([...seedable].sort())
    for (const slug of ofLists) expect(found).not.toContain(slug)
    const places = result.refusals.map(({ place }) => place)
    const sorted = places.toSorted((a, b) =>
      a.file === b.file ? a.line - b.line || a.column - b.column : a.file < b.file ? -1 : 1,
    )
    expect(places).toEqual(sorted)
  })

  it('a file that does not parse silences nothing but itself and what follows from its lists', async () => {
    const parsed = seedable.filter((slug) => slug !== 'syntax-error')
    expect([...new Set((await slugs(seed(parsed))).slugs)].sort()).toEqual([...parsed].sort())
  })

  it('is the same whatever the order in which files and modules come', async () => {
    const { root, result } = await slugs(seed(seedable))
    const again = await slugs(Object.fromEntries(Object.entries(seed(seedable)).reverse()))
    expect(rendered(again.root, again.result)).toBe(rendered(root, result))
  })
})
