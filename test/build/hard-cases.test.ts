/** Programs that mislead a reader. No route may become more open than it was written, and no fix may do harm. */
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildCached } from '../../build/cached.ts'
import { Compiler } from '../../build/compiler.ts'
import { applyFixes } from '../../build/fix.ts'
import { buildProject, rendered, targetOf, temporaryFolder, temporaryProject } from '../support/project.ts'

const app = (rule: string, imports = '') => `import { Controller, Get, Module } from '@stack/backend'
${imports}
@Controller('/a') export class A { @Get('', { auth: ${rule} }) x() { return 1 } }
@Module({ controllers: [A] }) export class AppModule {}
`

async function gateOf(files: Record<string, string>): Promise<unknown> {
  const result = await buildProject(temporaryProject(files), ['staff'])
  const [route] = result.built?.table.routes ?? []
  return route ? (route.gate.required ? (route.gate.role ?? 'signed in') : 'public') : 'refused'
}

describe('`export *` supplies no name that the file exports itself', () => {
  const star = `\nexport * from './open'`
  it.each([
    ['a default', `import RULE from './rules'`, `export default { role: 'staff' } as const`, 'staff'],
    [
      'a default that is computed',
      `import RULE from './rules'`,
      `export default Object.assign({}, { role: 'staff' })`,
      'refused',
    ],
    [
      'a binding pattern',
      `import { RULE } from './rules'`,
      `const all = { RULE: { role: 'staff' } }\nexport const { RULE } = all`,
      'refused',
    ],
    [
      'a namespace',
      `import { RULE } from './rules'`,
      `export namespace RULE { export const role = 'staff' }`,
      'refused',
    ],
    ['a function', `import { RULE } from './rules'`, `export function RULE() {}`, 'refused'],
    ['a let', `import { RULE } from './rules'`, `export let RULE = true`, 'refused'],
  ])('%s', async (_what, imports, rules, expected) => {
    const files = {
      'src/app.module.ts': app('RULE', imports),
      'src/rules/index.ts': rules + star,
      'src/rules/open.ts': `export const RULE = false\nconst OPEN = false\nexport default OPEN`,
    }
    expect(await gateOf(files)).toBe(expected)
  })
})

describe('a constant of a package', () => {
  const files = (declarations: string, manifest = '') => ({
    'src/app.module.ts': app('RULE', `import { RULE } from 'rules'`),
    'node_modules/rules/package.json': `{ "name": "rules", ${manifest || '"main": "index.js", "types": "index.d.ts"'} }`,
    'node_modules/rules/index.js': `export const RULE = { role: 'staff' }`,
    'node_modules/rules/index.d.ts': declarations,
    'node_modules/rules/open.d.ts': `export declare const RULE: false`,
  })

  it.each([
    ['an index signature', `export declare const RULE: { readonly required: false; [key: string]: unknown }`],
    ['a let', `export declare let RULE: false`],
    ['an interface', `interface Rule { readonly required: false }\nexport declare const RULE: Rule`],
    ['members that may be written', `export declare const RULE: { required: false }`],
  ])('whose type is %s is no value', async (_what, declarations) => {
    expect(await gateOf(files(declarations))).toBe('refused')
  })

  it('that Object.freeze made is one', async () => {
    expect(await gateOf(files(`export declare const RULE: Readonly<{ role: "staff" }>`))).toBe('staff')
  })

  it('is looked for where the bundle will find it', async () => {
    const conditions = `"exports": { ".": { "workerd": { "types": "./index.d.ts", "default": "./index.js" }, "default": { "types": "./open.d.ts", "default": "./index.js" } } }`
    expect(await gateOf(files(`export declare const RULE: { readonly role: 'staff' }`, conditions))).toBe('staff')
  })

  it('that changes is read again, by a watch and by a build that remembers', async () => {
    const before = files(`export declare const RULE: false`)
    const root = temporaryProject(before)
    const past = new Date(Date.now() - 60_000)
    for (const name of Object.keys(before)) fs.utimesSync(path.join(root, name), past, past)
    const compiler = new Compiler(targetOf(root, ['staff']))
    const gate = (table: { routes: { gate: object }[] } | undefined) => table?.routes[0]?.gate
    expect(gate(compiler.check().linked?.table)).toMatchObject({ required: false })
    expect(gate((await buildCached(targetOf(root, ['staff']))).built?.table)).toMatchObject({ required: false })
    fs.writeFileSync(
      path.join(root, 'node_modules/rules/index.d.ts'),
      `export declare const RULE: { readonly role: 'staff' }`,
    )
    expect(gate(compiler.check(new Set()).linked?.table)).toMatchObject({ required: true, role: 'staff' })
    expect(gate((await buildCached(targetOf(root, ['staff']))).built?.table)).toMatchObject({ role: 'staff' })
    await compiler.close()
  })
})

describe('what is judged is what is bundled', () => {
  it('a member of an enum goes by its own name there, whatever the file calls so', async () => {
    const source = app('{ role: Role.Root }', `const Admin = 'guest'\nenum Role { Admin = 'staff', Root = Admin }`)
    expect(await gateOf({ 'src/app.module.ts': source })).toBe('staff')
  })

  it.each([
    [
      'a .ts beside a .tsx',
      './who',
      { 'src/who.ts': `export const who = 'one'`, 'src/who.tsx': `export const who = 'two'` },
    ],
    [
      'a .ts beside a .js',
      './who.js',
      { 'src/who.ts': `export const who = 'one'`, 'src/who.js': `export const who = 'two'` },
    ],
    [
      'a tsconfig.json further down',
      '@who',
      {
        'tsconfig.json':
          '{ "compilerOptions": { "experimentalDecorators": true, "paths": { "@who": ["./src/one.ts"] } } }',
        'src/tsconfig.json': '{ "compilerOptions": { "paths": { "@who": ["./two.ts"] } } }',
        'src/one.ts': `export const who = 'one'`,
        'src/two.ts': `export const who = 'two'`,
      },
    ],
  ])('%s: the bundler takes the file that was read', async (_what, specifier, files) => {
    const source = app('false', `import { who } from '${specifier}'`).replace('return 1', 'return who')
    const root = temporaryProject({ 'src/app.module.ts': source, ...files })
    const result = await buildProject(root)
    expect(rendered(root, result)).toBe('')
    const worker = fs.readFileSync(path.join(root, '.stack/out/worker.js'), 'utf8')
    expect([/['"`]one['"`]/.test(worker), /['"`]two['"`]/.test(worker)]).toEqual([true, false])
  })

  it('a source that changes between judgement and bundle is bundled as it was judged', async () => {
    const root = temporaryProject({ 'src/app.module.ts': app('true ') })
    const compiler = new Compiler(targetOf(root))
    const { refusals, linked } = compiler.check()
    fs.writeFileSync(path.join(root, 'src/app.module.ts'), app('false').replace('return 1', 'return "a secret"'))
    const { built } = await compiler.emit({ refusals, linked: linked! })
    expect(built?.table.routes[0]?.gate.required).toBe(true)
    expect(fs.readFileSync(path.join(root, '.stack/out/worker.js'), 'utf8')).not.toContain('a secret')
    await compiler.close()
  })

  it('a file that comes and takes the place of another is no reason to do nothing', async () => {
    const root = temporaryProject({
      'src/app.module.ts': app('false', `import { who } from './who'`).replace('return 1', 'return who'),
      'src/who/index.ts': `export const who = 'index'`,
    })
    const past = new Date(Date.now() - 60_000)
    for (const name of ['src/app.module.ts', 'src/who/index.ts']) fs.utimesSync(path.join(root, name), past, past)
    await buildCached(targetOf(root))
    fs.writeFileSync(path.join(root, 'src/who.js'), `export const who = 'file'`)
    await buildCached(targetOf(root))
    expect(fs.readFileSync(path.join(root, '.stack/out/worker.js'), 'utf8')).toMatch(/file/)
  })
})

it('a secret that is refused is shown by no other refusal of its line', async () => {
  const root = temporaryProject({
    'src/app.module.ts': `import { Module, On, Webhook } from '@stack/backend'
@Webhook({ nam: 'x', provider: 'stripe', secret: 'whsec_VERYSECRET' }) export class W { @On('a') a() {} }
@Module({ providers: [W] }) export class AppModule {}`,
  })
  const result = await buildProject(root)
  expect(result.refusals.map(({ slug }) => slug)).toContain('option-unknown')
  expect(rendered(root, result)).not.toContain('VERYSECRET')
})

describe('a legitimate program is accepted', () => {
  const handler = (
    parameter: string,
    before = '',
  ) => `import { Body, Controller, Get, Log, Module, Post, Query, User, type UserT } from '@stack/backend'
${before}
@Controller('/a') export class A { @Get() x(${parameter}) { return 1 } }
@Module({ controllers: [A] }) export class AppModule {}`

  it.each([
    [
      'a type that is an element',
      handler(`@Query('k') k: (typeof KINDS)[number]`, `const KINDS = ['a', 'b'] as const`),
    ],
    ['a type that is a template', handler("@Query('k') k: `v$" + '{number}`')],
    [
      'a class that handlers build',
      handler(
        '',
        `class Order { readonly id = crypto.randomUUID() }\nclass Failed extends Error { constructor() { super('x'); Log.warn('failed') } }\nexport const make = () => [new Order(), new Failed()]`,
      ),
    ],
    [
      'a name that hides a global',
      handler('', `const { fetch } = { fetch: (x: string) => x }\nexport const y = fetch('a')`),
    ],
    ['a long sum', handler('', `export const long = ${Array.from({ length: 6000 }, () => `'x'`).join(' + ')}`)],
  ])('%s', async (_what, source) => {
    const root = temporaryProject({ 'src/app.module.ts': source })
    expect(rendered(root, await buildProject(root))).toBe('')
  })

  it('a user’s type through a barrel', async () => {
    const root = temporaryProject({
      'src/app.module.ts': handler('@User() me: Me', `import type { Me } from './types'`),
      'src/types/index.ts': `export * from './me'`,
      'src/types/me.ts': `import type { UserT } from '@stack/backend'\nexport type Me = Pick<UserT, 'id'>`,
    })
    expect(rendered(root, await buildProject(root))).toBe('')
  })

  it('files that an editor leaves there, and links to nothing', async () => {
    const root = temporaryProject({ 'src/app.module.ts': app('false') })
    fs.symlinkSync('me@host:1', path.join(root, 'src/.#app.module.ts'))
    fs.symlinkSync('nowhere.ts', path.join(root, 'src/gone.ts'))
    expect(rendered(root, await buildProject(root))).toBe('')
  })

  it('a project that is reached through a link, or by a path with odd characters', async () => {
    const source = `import { Body, Controller, Module, Post } from './sdk'
const Any = { '~standard': { version: 1 as const, vendor: 'x', validate: (value: unknown) => ({ value: String(value) }) } }
@Controller('/a') export class A { @Post() x(@Body(Any) body: string) { return body } }
@Module({ controllers: [A] }) export class AppModule {}`
    const root = temporaryProject({ 'src/app.module.ts': source, 'src/sdk.ts': `export * from '@stack/backend'` })
    const folder = temporaryFolder()
    fs.symlinkSync(root, path.join(folder, 'link'))
    fs.cpSync(root, path.join(folder, `it's #1 ? 100%41 & ü`), { recursive: true })
    for (const name of fs.readdirSync(folder)) {
      const result = await buildProject(path.join(folder, name))
      expect([name, rendered(path.join(folder, name), result)]).toEqual([name, ''])
    }
  })
})

describe('what would not start, or not be served, is refused', () => {
  it.each([
    [
      'a schema that is a type',
      `import { type Thing } from './thing'`,
      '@Post() x(@Body(Thing) body: unknown) { return body }',
      'schema-not-standard',
    ],
    [
      'a parameter property over a handler',
      '',
      'constructor(public list: A0) {}\n@Get() list() { return 1 }',
      'handler-twice',
    ],
    ['a decorator behind a comma', '', `@(0, Get('z')) z() { return 1 }`, 'decorator-as-value'],
    ['a decorator behind a cast', '', `@(Get('z') as any) z() { return 1 }`, 'decorator-as-value'],
    ['a decorator behind a condition', '', `@(1 > 0 ? Get('z') : Get('y')) z() { return 1 }`, 'decorator-as-value'],
    ['options in a computed spread', '', `@Get('z', { ...Object(Math.random()) }) z() {}`, 'option-not-constant'],
    ['a status that is no whole number', '', `@Get('z', { status: 200.5 }) z() {}`, 'option-malformed'],
    ['a text as a schema', '', `@Post() z(@Body('text') body: unknown) { return body }`, 'schema-not-standard'],
    ['a list as a schema', '', `@Post() z(@Body([1]) body: unknown) { return body }`, 'schema-not-standard'],
    [
      'the SDK as it runs',
      `export const sdk = () => import('@stack/backend')`,
      '@Get() z() { return 1 }',
      'decorator-as-value',
    ],
  ])('%s', async (_what, imports, body, slug) => {
    const root = temporaryProject({
      'src/app.module.ts': `import { Body, Controller, Get, Module, Post } from '@stack/backend'
${imports}
export class A0 {}
@Controller('/a') export class A { ${body} }
@Module({ controllers: [A], providers: [A0] }) export class AppModule {}`,
      'src/thing.ts': 'export const Thing = 1',
    })
    const { refusals } = await buildProject(root)
    expect(refusals.filter(({ severity }) => severity === 'error').map((one) => one.slug)).toContain(slug)
    for (const { place } of refusals) expect(Number.isInteger(place.line) && Number.isInteger(place.column)).toBe(true)
  })
})

it.each([
  ['the secret itself', `'bm90LWEtcmVhbC1zZWNyZXQ'`],
  ['the secret as a name', `{ env: 'whsec_bm90LWEtcmVhbC1zZWNyZXQ' }`],
  ['the previous secret as a name', `{ env: 'A', previous: 'whsec_bm90LWEtcmVhbC1zZWNyZXQ' }`],
  ['the token as a name', `{ env: 'A', verify: 'whsec_bm90LWEtcmVhbC1zZWNyZXQ' }`],
])('7.4 %s does not stand in a source', async (_what, secret) => {
  const root = temporaryProject({
    'src/app.module.ts': `import { Module, On, Webhook } from '@stack/backend'
@Webhook({ name: 'w', provider: 'meta', secret: ${secret} }) export class W { @On('page.feed') on() {} }
@Module({ providers: [W] }) export class AppModule {}`,
  })
  const { refusals } = await buildProject(root)
  expect(refusals.map(({ slug }) => slug)).toEqual(['webhook-secret-inline'])
})

it('8.1 a file whose syntax is wrong is judged for nothing else', async () => {
  const root = temporaryProject({
    'src/app.module.ts': `import { Module } from '@stack/backend'
@Module({}) export class AppModule {}`,
    'src/a.ts': `import { Controller, Get } from '@stack/backend'
@Controler('/a') export class A { @Gett() x() { return 1 + } }`,
  })
  const { refusals } = await buildProject(root)
  expect(new Set(refusals.map(({ slug }) => slug))).toEqual(new Set(['syntax-error']))
})

it('8.1 a module whose syntax is wrong leaves the classes of other files unjudged', async () => {
  const root = temporaryProject({
    'src/app.module.ts': `import { Module } from '@stack/backend'
import { A } from './a'
@Module({ controllers: ) export class AppModule {}`,
    'src/a.ts': `import { Controller, Get } from '@stack/backend'
@Controller('/a') export class A { @Get() x() { return 1 } }`,
  })
  const { refusals } = await buildProject(root)
  expect(new Set(refusals.map(({ slug }) => slug))).toEqual(new Set(['syntax-error']))
})

describe('a fix that is not certain is not made', () => {
  async function fixed(files: Record<string, string>): Promise<Record<string, string>> {
    const root = temporaryProject(files)
    const compiler = new Compiler(targetOf(root, ['staff']))
    const done = new Set<string>()
    for (let touched = new Set<string>(), round = 0; round < 20; round++) {
      const { fixed: some, changed } = applyFixes(root, compiler.check(touched).refusals, done)
      if (some.length === 0) break
      touched = changed
    }
    await compiler.close()
    return Object.fromEntries(Object.keys(files).map((name) => [name, fs.readFileSync(path.join(root, name), 'utf8')]))
  }

  const imports = `import { Controller, Get, Injectable, Module, OptionalUser, User } from '@stack/backend'\n`
  const a = `@Controller('/a') export class A { @Get() x() { return 1 } }\n`
  const end = '\n'

  it.each([
    [
      'a list that a spread makes',
      `${imports}${a}const COMMON = [A]\nexport const important = 1\n@Module({ controllers: [...COMMON, A] }) export class AppModule {}${end}`,
    ],
    [
      'a list in parentheses',
      `${imports}@Controller('/b') export class B { @Get() x() { return 1 } }\n${a}@Module({ controllers: Object.freeze([A]) as never, auth: (true) }) export class AppModule {}${end}`,
    ],
    [
      'a default export that somebody re-exports',
      `${imports}@Controller('/a') export default class A { @Get() x() { return 1 } }\nexport { default as Again } from './app.module'\n@Module({ controllers: [A] }) export class AppModule {}${end}`,
    ],
    [
      'a class whose type alone is exported',
      `${imports}@Injectable() class S {}\nexport type { S }\n@Module({ providers: [S] }) export class AppModule {}${end}`,
    ],
    [
      'a decorator’s name that means something else',
      `import { Controller, Get, Module, OptionalUser } from '@stack/backend'\nexport class User {}\n@Controller('/a') export class A { @Get() x(@OptionalUser() user: unknown) { return user } }\n@Module({ controllers: [A] }) export class AppModule {}\n`,
    ],
    [
      'another @Injectable',
      `import { Controller, Get, Module } from '@stack/backend'\nimport { Injectable } from 'inversify'\nexport class D {}\nexport class S { constructor(readonly d: D) {} }\n@Module({ providers: [S, D] }) export class AppModule {}\n`,
    ],
  ])('%s', async (_what, text) => {
    expect(await fixed({ 'src/app.module.ts': text })).toEqual({ 'src/app.module.ts': text })
  })

  it('a list whose last item stands in another file', async () => {
    const files = {
      'src/app.module.ts': `${imports}import { COMMON } from './common'\n@Module({ controllers: [...COMMON] }) export class AppModule {}${end}`,
      'src/common.ts': `${imports}${a}export const COMMON = [A]${end}`,
      'src/b.ts': `${imports}${a.replaceAll('A', 'B').replace("'/a'", "'/b'")}${end}`,
    }
    expect(await fixed(files)).toEqual(files)
  })

  it.each([
    [
      'under an alias',
      `import { Injectable as Service, Module } from '@stack/backend'\nexport class D {}\nexport  class S { constructor(readonly d: D) {} }\n@Module({ providers: [S, D] }) export class AppModule {}\n`,
      `@Service()\nexport  class S`,
    ],
    [
      'above a class that is exported below',
      `import { Injectable, Module } from '@stack/backend'\nexport class D {}\nclass S { constructor(readonly d: D) {} }\nexport { S }\n@Module({ providers: [S, D] }) export class AppModule {}\n`,
      `@Injectable()\nclass S`,
    ],
    [
      'below a hashbang',
      `#!/usr/bin/env node\nexport class D {}\n@Module({ providers: [D] }) export class AppModule {}\n`,
      `#!/usr/bin/env node\nimport { Module } from '@stack/backend'\nexport class D`,
    ],
    [
      'and keeps a decorator after `default`',
      `import { Controller, Get, Module } from '@stack/backend'\nexport default @Controller('/a') class A { @Get() x() { return 1 } }\n@Module({ controllers: [A] }) export class AppModule {}\n`,
      `export @Controller('/a') class A`,
    ],
  ])('one that is certain is made %s', async (_what, text, expected) => {
    const { 'src/app.module.ts': after } = await fixed({ 'src/app.module.ts': text })
    expect(after).toContain(expected)
    expect((await buildProject(temporaryProject({ 'src/app.module.ts': after! }))).refusals).toEqual([])
  })

  it('a link stays a link, and bytes that are no text stay as they are', async () => {
    const text = app('true').replace("@Get('', { auth: true })", '@Get')
    const root = temporaryProject({ 'elsewhere/app.ts': text })
    fs.mkdirSync(path.join(root, 'src'))
    fs.symlinkSync('../elsewhere/app.ts', path.join(root, 'src/app.module.ts'))
    const compiler = new Compiler(targetOf(root))
    applyFixes(root, compiler.check().refusals)
    expect(fs.lstatSync(path.join(root, 'src/app.module.ts')).isSymbolicLink()).toBe(true)
    expect(fs.readFileSync(path.join(root, 'elsewhere/app.ts'), 'utf8')).toContain('@Get()')
    const bytes = Buffer.concat([Buffer.from(`// caf`), Buffer.from([0xe9]), Buffer.from(`\n${text}`)])
    fs.writeFileSync(path.join(root, 'elsewhere/app.ts'), bytes)
    applyFixes(root, compiler.check(new Set([path.join(root, 'src/app.module.ts')])).refusals)
    expect(fs.readFileSync(path.join(root, 'elsewhere/app.ts'))).toEqual(bytes)
    await compiler.close()
  })
})

describe('what is emitted is not moved by odd names', () => {
  it('client.d.ts, openapi.json', async () => {
    const root = temporaryProject({
      'src/app.module.ts': `import { Body, Controller, Delete, Get, Module, Param, Post } from '@stack/backend'
import * as z from 'zod'
const Tree = z.object({ name: z.string(), get children() { return z.array(Tree) } })
const Addr = z.object({ city: z.string() }).meta({ id: 'Addr' })
@Controller('/a', { auth: { role: '*/ export const injected: 1 /*' } }) class Inner {
  @Get(':id') one(@Param('id') id: string, @Param('id') again: string) { return id + again }
  @Delete(':key') 'line\\nbreak'(@Param('key') key: string) { return key }
  @Get() @Get('b') x() { return 1 }
  @Get('c') x_2() { return 1 }
  @Post('tree') tree(@Body(Tree) body: unknown) { return body }
  @Post('addr') addr(@Body(z.object({ from: Addr, to: Addr })) body: unknown) { return body }
}
export { Inner as Outer }
@Module({ controllers: [Inner] }) export class AppModule {}`,
    })
    fs.mkdirSync(path.join(root, 'node_modules'))
    fs.symlinkSync(path.resolve(import.meta.dirname, '../../node_modules/zod'), path.join(root, 'node_modules/zod'))
    const { built } = await buildProject(root)
    expect(built).toBeDefined()
    const client = fs.readFileSync(path.join(root, '.stack/client.d.ts'), 'utf8')
    expect(client).toContain(`'DELETE /a/:key'(request: Request<{ params: { key: Value } }>): Promise<string>`)
    expect(client).toContain('export interface Schema0 { name: string; children: Schema0[] }')
    expect(client).not.toMatch(/\*\/ export const injected/)
    expect(client.split('\n').every((line) => !line.startsWith('break'))).toBe(true)
    const document = JSON.parse(fs.readFileSync(path.join(root, '.stack/openapi.json'), 'utf8'))
    expect(Object.keys(document.paths)).toEqual(['/a/{id}', '/a', '/a/b', '/a/c', '/a/tree', '/a/addr'])
    expect(document.paths['/a/{id}'].get.parameters).toHaveLength(1)
    expect(document.paths['/a/{id}'].delete.parameters[0].name).toBe('id')
    const ids = Object.values<Record<string, { operationId: string }>>(document.paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    )
    expect(new Set(ids).size).toBe(ids.length)
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, pointer]) => pointer!)
    expect(references.length).toBeGreaterThan(2)
    for (const pointer of references) {
      const target = pointer.split('/').reduce((value, key) => value?.[key], document)
      expect([pointer, target === undefined]).toEqual([pointer, false])
    }
  })
})
