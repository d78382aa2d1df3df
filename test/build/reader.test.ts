/** Half-written, foreign and broken sources become refusals that name the file and say what to do (contract 8.1, 8.2). */
import { execFile } from 'node:child_process'
import * as fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { buildProject, rendered, temporaryFolder, temporaryProject } from '../support/project.ts'

const sdk = (names: string) => `import { ${names} } from '@stack/backend'\n`
const root = (options: string) => `\n@Module(${options}) export class AppModule {}\n`

async function judged(files: Record<string, string>) {
  const folder = temporaryProject(files)
  const { refusals, built } = await buildProject(folder, ['staff'])
  return {
    folder,
    built,
    refusals,
    slugs: refusals.map(({ slug }) => slug),
    places: refusals.map(({ slug, place }) => `${slug} ${place.file}:${place.line}`),
  }
}
const app = (text: string) => judged({ 'src/app.module.ts': text })

describe('a half-written source', () => {
  it.each([
    `import { Orders as } from './orders'`,
    `import * as from './orders'`,
    `import { } from`,
    `import Orders, from './orders'`,
    `export { Orders as } from './orders'`,
    `import = require('./orders')`,
    `import { Orders } from 1`,
    'export const = 1',
    'enum { A }',
    'export class extends { @Get() }',
    '@',
    'class A { @ }',
    'class A { constructor(@) {} }',
  ])('%s is refused, and the build ends', async (line) => {
    const { slugs, refusals } = await app(`${line}\n${sdk('Module')}${root('{}')}`)
    expect(slugs).toContain('syntax-error')
    expect(refusals.find(({ slug }) => slug === 'syntax-error')?.place.file).toBe('src/app.module.ts')
    expect(slugs).not.toContain('file-unreadable')
  })

  it('cut at 10,000 random places is always refused or accepted', { timeout: 400_000 }, async () => {
    const folder = temporaryFolder()
    const script = path.resolve(import.meta.dirname, '../support/cuts.ts')
    const { stdout } = await promisify(execFile)(process.execPath, [script, folder, '10000', '20'], {
      timeout: 380_000, // Ends a reader that never returns, in milliseconds.
      maxBuffer: 64 * 1024 * 1024,
    })
    const { sources, accepted, failures, slugs } = JSON.parse(stdout)
    expect(failures).toEqual([])
    expect(slugs['file-unreadable']).toBeUndefined()
    expect(sources).toBeGreaterThan(200)
    expect(accepted).toBeGreaterThan(50)
    expect(Object.keys(slugs).length).toBeGreaterThan(30)
  })
})

describe('a file that the build cannot read', () => {
  const nested = `export class Orders {}\nexport const depths = ${'['.repeat(4000)}${']'.repeat(4000)}\n`
  const files = {
    'src/app.module.ts': `${sdk('Controller, Get, Module')}import { Orders } from './orders'
@Controller('a') export class A { constructor(readonly orders: Orders) {} @Get('//') x() {} }${root('{ controllers: [A], providers: [Orders] }')}`,
    'src/orders.ts': nested,
  }

  it('is named, the others are judged, and what follows from it is not said', async () => {
    const { places, refusals } = await judged(files)
    expect(places).toEqual(['path-malformed src/app.module.ts:3', 'file-unreadable src/orders.ts:1'])
    expect(refusals[1]?.fix).toContain('defect of the build')
  })

  it('is a migration as well', async () => {
    const folder = temporaryProject({ 'src/app.module.ts': `${sdk('Module')}${root('{}')}` })
    fs.mkdirSync(path.join(folder, 'migrations'))
    fs.symlinkSync('gone.sql', path.join(folder, 'migrations/0001_orders.sql'))
    const { refusals } = await buildProject(folder)
    expect(refusals).toMatchObject([{ slug: 'file-unreadable', place: { file: 'migrations/0001_orders.sql' } }])
    expect(refusals[0]?.message).toContain('cannot be opened')
  })

  it('that can be read again is refused no more', async () => {
    const { places } = await judged({ ...files, 'src/orders.ts': 'export class Orders {}\n' })
    expect(places).toEqual(['path-malformed src/app.module.ts:3'])
  })
})

describe('index files that export each other', () => {
  it('are asked once for each name, however many they are', async () => {
    const names = Array.from({ length: 24 }, (_, index) => index)
    const stars = names.map((name) => `export * from '../${name}'`).join('\n')
    const others = Object.fromEntries(names.map((name) => [`src/${name}/index.ts`, stars]))
    const text = `${sdk('Body, Controller, Module, Post')}import type { Order } from './0'
@Controller('a') export class A { @Post() x(@Body() order: Order) { return order } }${root('{ controllers: [A] }')}`
    const { slugs } = await judged({ 'src/app.module.ts': text, ...others })
    expect(slugs).toEqual(['body-unchecked'])
  })
})

describe('a provider that another framework would call', () => {
  const provider = (declared: string, name: string) =>
    `${sdk('Injectable, Module')}@Injectable() export class ${name} ${declared}${root(`{ providers: [${name}] }`)}`

  it.each([
    ['guard', 'AuthGuard', '{ canActivate() { return true } }', '`auth`'],
    ['guard', 'Admins', 'implements CanActivate { canActivate() { return true } }', '`auth`'],
    ['pipe', 'TrimPipe', '{ transform(value: string) { return value.trim() } }', 'schema'],
    ['exception filter', 'AllFilter', '{ catch(error: Error) { throw error } }', 'HttpError'],
    ['interceptor', 'Timing', 'implements nest.NestInterceptor { intercept() {} }', 'plain function'],
    ['middleware', 'LogMiddleware', '{ use() {} }', 'handler'],
  ])('a %s called %s is warned of, with what takes its place', async (kind, name, declared, instead) => {
    const { refusals, built } = await app(provider(declared, name))
    expect(refusals).toMatchObject([{ slug: 'wrapper-not-called', severity: 'warning' }])
    expect(refusals[0]?.message).toContain(`${name} is a`)
    expect(refusals[0]?.message).toContain(kind)
    expect(refusals[0]?.fix).toContain(instead)
    expect(built).toBeDefined()
  })

  it('is not warned of where another class calls it, or where only its name says so', async () => {
    const used = `${sdk('Controller, Get, Injectable, Module')}
@Injectable() export class TrimPipe { transform(value: string) { return value.trim() } }
@Controller('a') export class A { constructor(private readonly trim: TrimPipe) {} @Get() x() { return this.trim.transform(' a ') } }${root('{ controllers: [A], providers: [TrimPipe] }')}`
    expect((await app(used)).slugs).toEqual([])
    expect((await app(provider('{ convert() {} }', 'WaterPipe'))).slugs).toEqual([])
  })

  it('is warned of without a decorator too, as are hooks and `configure`', async () => {
    const text = `${sdk('Module')}export class AuthGuard { canActivate() { return true } }
export class Cache { onModuleInit() {} }
@Module({ providers: [AuthGuard, Cache] }) export class AppModule { configure() {} }
`
    const { slugs, refusals } = await app(text)
    expect(slugs).toEqual(['wrapper-not-called', 'hook-not-called', 'hook-not-called'])
    expect(refusals[2]?.message).toBe('nothing calls AppModule.configure: there is no middleware')
  })
})

describe('a decorator that the file does not know', () => {
  const controller = (head: string, inside: string) =>
    `${sdk('Controller, Get, Module')}${head}\nexport class A { ${inside} }${root('{ controllers: [] }')}`

  it.each([
    ['@Controler("a")', '', 'did you mean "Controller"', 'write `@Controller`'],
    ['@injectable()', '', 'did you mean "Injectable"', 'write `@Injectable`'],
    ['', '@Gett() x() {}', 'did you mean "Get"', 'write `@Get`'],
    ['', '@UseGuards(X) x() {}', '@UseGuards is not imported', 'option `auth`'],
  ])('%s%s resembles one: it is refused with a suggestion', async (head, inside, message, fix) => {
    const { refusals } = await app(controller(head, inside))
    expect(refusals).toMatchObject([{ slug: 'decorator-not-imported' }])
    expect(refusals[0]?.message).toContain(message)
    expect(refusals[0]?.fix).toContain(fix)
  })

  it('and that resembles none is refused on a class with a role, and is let be elsewhere', async () => {
    const text = `${sdk('Controller, Get, Module')}@Cached() export class Plain {}
@Cached() @Controller('a') export class A { @Get() x() {} }${root('{ controllers: [A] }')}`
    expect((await app(text)).places).toEqual(['decorator-not-imported src/app.module.ts:3'])
  })

  const nest = (name: string) => ({
    'node_modules/@nestjs/common/package.json': '{ "name": "@nestjs/common", "main": "index.js" }',
    'node_modules/@nestjs/common/index.js': `export const ${name} = () => () => {}`,
  })
  const text = (names: string, body: string) =>
    `${sdk('Controller, Get, Module')}import { ${names} } from '@nestjs/common'\n${body}`

  it.each([
    ['UseGuards', '@UseGuards() @Get() x() {}', 'option `auth`'],
    ['SetMetadata', '@SetMetadata() @Get() x() {}', 'no code reads metadata'],
    ['ApiThing', '@ApiThing() @Get() x() {}', 'remove it'],
  ])('of a server framework, @%s, is refused on a handler', async (name, inside, fix) => {
    const body = `@Controller('a') export class A { ${inside} }${root('{ controllers: [A] }')}`
    const { refusals } = await judged({ 'src/app.module.ts': text(name, body), ...nest(name) })
    expect(refusals).toMatchObject([{ slug: 'decorator-foreign' }])
    expect(refusals[0]?.fix).toContain(fix)
  })

  it('of the project, by the name of a route’s, is refused on a class that no module lists yet', async () => {
    const source = `${sdk('Controller, Module')}import { Get } from './own'
@Controller('a') export class A { @Get() x() {} }${root('{}')}`
    const { refusals } = await judged({
      'src/app.module.ts': source,
      'src/own.ts': 'export const Get = () => () => {}',
    })
    expect(refusals.map(({ slug }) => slug)).toContain('decorator-foreign')
  })

  it('of a server framework under another name is refused on a class that no module lists', async () => {
    const body = `@Serves() export class A {}${root('{}')}`
    const files = {
      'src/app.module.ts': text('Controller as Serves', body).replace('Controller, Get, ', ''),
      ...nest('Controller'),
    }
    const { refusals } = await judged(files)
    expect(refusals).toMatchObject([{ slug: 'decorator-foreign', fix: "import Controller from '@stack/backend'" }])
  })

  it('of another package, with a name of its own, is let be', async () => {
    const body = `@Entity() export class Order { @Column() id = '' }\n@Controller('a') export class A { @Get() x() { return Order } }${root('{ controllers: [A] }')}`
    const files = {
      'src/app.module.ts': text('Entity, Column', body).replace('@nestjs/common', 'some-orm'),
      'node_modules/some-orm/package.json': '{ "name": "some-orm", "main": "index.js" }',
      'node_modules/some-orm/index.js': 'export const Entity = () => () => {}\nexport const Column = Entity',
    }
    expect((await judged(files)).slugs).toEqual([])
  })

  it.each([
    ['a class expression in a method', `export class B { make() { return class { @Get() x() {} } } }`],
    ['a class in a function', `export function make() { @Controller('b') class B { @Get() x() {} }; return B }`],
    ['a function', `@Get() export function list() {}`],
    ['an interface', `@Controller('b') export interface B { x(): void }`],
    ['a member of an interface', `export interface B { @Get() x(): void }`],
    ['a member of a type', `export type B = { @Get() x(): void }`],
    ['a method of an object', `export const b = { @Get() x() {} }`],
    ['an enum', `@Controller('b') export enum B { one }`],
    ['a constructor parameter', `export class B { constructor(@Get() readonly x: string) {} }`],
  ])('that stands on %s is refused at its file', async (_what, body) => {
    const { refusals, built } = await app(`${sdk('Controller, Get, Module')}${body}${root('{}')}`)
    expect(refusals.filter(({ severity }) => severity === 'error').length).toBeGreaterThan(0)
    expect(new Set(refusals.map(({ place }) => place.file))).toEqual(new Set(['src/app.module.ts']))
    expect(refusals.map(({ slug }) => slug)).not.toContain('file-unreadable')
    expect(built).toBeUndefined()
  })
})

describe('an import that leads nowhere', () => {
  const using = (specifier: string) => `${sdk('Controller, Get, Module')}import { Orders } from '${specifier}'
import { ROUTE } from '${specifier}/route'
@Controller(ROUTE) export class A { constructor(readonly orders: Orders) {} @Get() x() {} }${root('{ controllers: [A], providers: [Orders] }')}`
  const orders = {
    'src/orders/index.ts': 'export class Orders {}\n',
    'src/orders/route.ts': `export const ROUTE = 'orders'\n`,
  }

  it.each([
    ['@/orders', '"paths": { "@/*": ["./src/*"] }'],
    ['~/orders', '"paths": { "~/*": ["./src/*"] }'],
    ['src/orders', '"paths": { "src/*": ["./src/*"] }'],
    ['@app/orders', '"paths": { "@app/*": ["./src/*"] }'],
  ])('by the alias %s is said once, with the line of tsconfig.json that it lacks', async (specifier, line) => {
    const { refusals } = await judged({ 'src/app.module.ts': using(specifier), ...orders })
    expect(refusals).toMatchObject([{ slug: 'import-lost', place: { line: 2 }, related: [{ place: { line: 3 } }] }])
    expect(refusals[0]?.fix).toContain(line)
    expect(refusals[0]?.fix).toContain('"./orders"')
    const tsconfig = `{ "compilerOptions": { "experimentalDecorators": true, ${line} } }`
    const again = await judged({ 'src/app.module.ts': using(specifier), ...orders, 'tsconfig.json': tsconfig })
    expect(rendered(again.folder, { refusals: again.refusals, built: undefined })).toBe('')
  })

  it('by an alias that is declared, and of a path without one, is a wrong path', async () => {
    const tsconfig = '{ "compilerOptions": { "experimentalDecorators": true, "paths": { "@/*": ["./src/*"] } } }'
    for (const specifier of ['@/gone', './gone']) {
      const { slugs, refusals } = await judged({ 'src/app.module.ts': using(specifier), 'tsconfig.json': tsconfig })
      expect(slugs).toEqual(['import-lost', 'import-lost'])
      expect(refusals[0]?.fix).toMatch(/^correct the path/)
    }
  })

  it('by an alias that fits no file is said once, with an example of the line', async () => {
    const { refusals } = await judged({ 'src/app.module.ts': using('~/gone') })
    expect(refusals).toMatchObject([{ slug: 'import-lost', related: [{ place: { line: 3 } }] }])
    expect(refusals[0]?.message).toContain('tsconfig.json has no path "~/*" (2 imports)')
    expect(refusals[0]?.fix).toContain('for example `"paths": { "~/*": ["./src/*"] }`')
  })

  it('of a package is said once for all its imports, with the first places', async () => {
    const use = (index: number) => `import { Column, Entity } from 'some-orm${index % 2 ? '/more' : ''}'
@Entity() export class Order${index} { @Column() id = '' }\n`
    const files = Object.fromEntries([0, 1, 2, 3, 4].map((index) => [`src/order${index}.ts`, use(index)]))
    const imports = [0, 1, 2, 3, 4].map((index) => `import './order${index}'\n`).join('')
    const { refusals } = await judged({ ...files, 'src/app.module.ts': `${sdk('Module')}${imports}${root('{}')}` })
    expect(refusals).toHaveLength(1)
    expect(refusals[0]).toMatchObject({
      slug: 'import-lost',
      message: 'the package "some-orm" is not installed (5 imports)',
      place: { file: 'src/order0.ts' },
    })
    expect(refusals[0]?.fix).toContain('npm install some-orm')
    expect(refusals[0]?.related.map(({ place, message }) => [place.file, message])).toEqual([
      ['src/order1.ts', 'and here'],
      ['src/order2.ts', 'and here, and in 2 more'],
    ])
  })

  it('of a package whose types alone are used is dropped by the bundler, and accepted', async () => {
    const text = `${sdk('Controller, Get, Module, Req')}import { Thing } from 'types-alone'
@Controller('a') export class A { @Get() x(@Req() request: Request): Thing { return request.url as Thing } }${root('{ controllers: [A] }')}`
    const { slugs, built } = await app(text)
    expect([slugs, built !== undefined]).toEqual([[], true])
  })

  it('of a package, in a program of its own that the worker does not load, is not looked for', async () => {
    const files = {
      'src/app.module.ts': `${sdk('Module')}${root('{}')}`,
      'src/seed.ts': `import orm from 'some-orm'\norm()\n`,
    }
    expect((await judged(files)).slugs).toEqual([])
    const loaded = { ...files, 'src/app.module.ts': `import './seed'\n${files['src/app.module.ts']}` }
    expect((await judged(loaded)).slugs).toEqual(['import-lost'])
  })

  it('of a module of Node without its prefix is shown with it', async () => {
    const { refusals } = await app(
      `${sdk('Module')}import { join } from 'path'\nexport const at = join('a')${root('{}')}`,
    )
    expect(refusals).toMatchObject([{ slug: 'import-lost', fix: 'a module of Node has a prefix: write "node:path"' }])
  })

  it('silences what follows from it, and neither what stands beside it nor what another file does wrong', async () => {
    const text = `${sdk('Controller, Get, Module, Put')}import { Orders, OrdersModule, ROUTE } from './order'
const status = Number('201')
@Controller(ROUTE) export class A {
  constructor(readonly orders: Orders, readonly name: string) {}
  @Get(\`\${ROUTE}/all\`) list() {}
  @Put('x', { status }) put() {}
}${root('{ imports: [OrdersModule], controllers: [A], providers: [Orders] }')}`
    const { places } = await judged({
      'src/app.module.ts': text,
      'src/orders.ts': `${sdk('Injectable, Module')}@Injectable() export class Listed {}
@Module({ providers: [Listed] }) export class OrdersModule {}
@Injectable() export class Unlisted {}\n`,
    })
    expect(places).toEqual([
      'import-lost src/app.module.ts:2',
      'dependency-not-a-class src/app.module.ts:5',
      'option-not-constant src/app.module.ts:7',
      'class-not-listed src/orders.ts:4',
    ])
  })
})

describe('advice', () => {
  const handler = (names: string, inside: string) =>
    app(
      `${sdk(`Controller, Get, Module, Post${names}`)}@Controller('a') export class A { ${inside} }${root('{ controllers: [A] }')}`,
    )

  it.each([
    ['UseInterceptors', '@UseInterceptors() @Post() x() {}', 'plain function'],
    ['UploadedFile', '@Post() x(@UploadedFile() file: unknown) { return file }', 'request.formData()'],
    ['Request', '@Get() x(@Request() request: unknown) { return request }', 'write `@Req()`'],
    ['Response', '@Get() x(@Response() response: unknown) { return response }', 'return a `Response`'],
  ])('for @%s says what takes its place', async (name, inside, expected) => {
    const { refusals } = await handler(`, ${name}`, inside)
    const found = refusals.find(({ slug }) => slug === 'decorator-unknown')
    expect(found?.message).toBe(`@stack/backend has no decorator "${name}"`)
    expect(found?.fix).toContain(expected)
  })

  it('for FileInterceptor, which is a function, is the same', async () => {
    const { refusals } = await handler(', FileInterceptor', `@Get() x() { return FileInterceptor('file') }`)
    expect(refusals).toMatchObject([{ slug: 'bundle-failed' }])
    expect(refusals[0]?.message).toContain('request.formData()')
  })

  it.each([
    ['/:slug', "write `@Param('slug')`"],
    ['/:org/:slug', "write `@Param('org')` and `@Param('slug')`"],
    ['/all', "write `@Param('id')`"],
  ])('for @Param() without a name on %s names what the path has', async (route, fix) => {
    const { refusals } = await handler(', Param', `@Get('${route}') x(@Param() all: unknown) { return all }`)
    expect(refusals.find(({ slug }) => slug === 'argument-missing')?.fix).toBe(fix)
  })

  const provider = (item: string) =>
    app(`${sdk('Module')}export abstract class Orders {}
export class PgOrders extends Orders {}
const orders = new PgOrders()${root(`{ providers: [${item}] }`)}`)
  it.each([
    ['{ provide: Orders, useValue: orders }', 'recipe-malformed', 'export the value'],
    ['{ provide: Orders, useFactory: () => orders }', 'recipe-malformed', 'whose constructor does'],
    ['{ provide: Orders, useExisting: PgOrders }', 'recipe-malformed', 'type the parameter'],
    [`{ provide: 'ORDERS', useClass: PgOrders }`, 'recipe-malformed', 'type the constructor parameter by it'],
    ['{ provide: Orders }', 'recipe-malformed', 'write `{ provide'],
    ['{ provide: Orders, useClass: PgOrders, scope: 1 }', 'recipe-malformed', 'write `{ provide'],
    ['{ provide: Orders, provide: PgOrders, useClass: PgOrders }', 'option-twice', 'keep one'],
    ['{ ...Math.random(), provide: Orders, useClass: PgOrders }', 'option-not-constant', 'write the literal'],
    ['Orders', 'class-abstract', '{ provide: Orders, useClass: … }'],
  ])('for the provider %s is about that recipe', async (item, slug, fix) => {
    const { refusals } = await provider(item)
    expect(refusals).toMatchObject([{ slug }])
    expect(refusals[0]?.fix).toContain(fix)
  })

  it('for a dependency that is abstract names the class that extends it', async () => {
    const text = `${sdk('Controller, Get, Module')}export abstract class Orders {}
export class PgOrders extends Orders {}
@Controller('a') export class A { constructor(readonly orders: Orders) {} @Get() x() {} }${root('{ controllers: [A] }')}`
    const { refusals } = await app(text)
    expect(refusals).toMatchObject([
      {
        slug: 'dependency-not-provided',
        fix: 'Orders is abstract: add `{ provide: Orders, useClass: PgOrders }` to the `providers` of AppModule',
      },
    ])
  })
})

describe('2.2 a recipe', () => {
  afterEach(() => void vi.unstubAllGlobals())

  const classes = `export abstract class Orders { abstract all(): string[] }
export interface Named { name: string }
@Injectable() export class Names { name = 'tea' }
@Injectable() export class PgOrders implements Orders, Named { name = ''
  constructor(private readonly names: Names) {} all() { return [this.names.name] } }
@Controller('a', { auth: false }) export class A { constructor(readonly orders: Orders) {} @Get() x() { return this.orders.all() } }`
  const text = (options: string, more = '') =>
    `${sdk('Controller, Get, Injectable, Module')}${classes}\n${more}${root(options)}`

  it('gives every class that asks for what it provides the one instance of what it uses', async () => {
    const { folder, built, refusals } = await app(
      text('{ controllers: [A], providers: [Names, { provide: Orders, useClass: PgOrders }] }'),
    )
    expect(rendered(folder, { refusals, built })).toBe('')
    expect(built?.table.container.map((one) => [one.class, one.dependencies])).toEqual([
      ['Names', []],
      ['PgOrders', [0]],
      ['A', [1]],
    ])
    vi.stubGlobal('addEventListener', () => {}) // The Workers runtime has this function, and Node does not.
    const worker = await import(path.join(folder, '.stack/out/worker.js'))
    const response: Response = await worker.default.fetch(new Request('https://a.example/a'), {}, { waitUntil() {} })
    expect([response.status, await response.json()]).toEqual([200, ['tea']])
  })

  /** The same classes with a module of their own, which the root imports. */
  const split = (rootOptions: string, beside: string) =>
    judged({
      'src/orders.ts': `${sdk('Controller, Get, Injectable, Module')}${classes}\n${beside}`,
      'src/app.module.ts': `${sdk('Module')}import { A, Orders, OrdersModule, PgOrders } from './orders'
export const used = [Orders, PgOrders]${root(rootOptions)}`,
    })

  it('replaces a concrete class, in the modules that import its module too', async () => {
    const beside = `export class Fake extends Names { override name = 'fake' }
@Module({ providers: [{ provide: Names, useClass: Fake }] }) export class OrdersModule {}\n`
    const { built, slugs } = await split(
      '{ imports: [OrdersModule], controllers: [A], providers: [{ provide: Orders, useClass: PgOrders }] }',
      beside,
    )
    expect(slugs).toEqual([])
    expect(built?.table.container.map((one) => [one.class, one.dependencies])).toEqual([
      ['Fake', []],
      ['PgOrders', [0]],
      ['A', [1]],
    ])
  })

  it.each([
    ['whose class is not assignable', '[Names, { provide: Orders, useClass: Names }]', ['recipe-not-assignable']],
    [
      'beside the class itself',
      '[Names, PgOrders, { provide: PgOrders, useClass: Better }, { provide: Orders, useClass: PgOrders }]',
      ['recipe-twice'],
    ],
    ['that uses an abstract class', '[Names, { provide: Orders, useClass: Half }]', ['class-abstract']],
    ['that uses a controller', '[Names, { provide: Orders, useClass: Odd }]', ['recipe-malformed']],
    [
      'whose class needs what nobody provides',
      '[{ provide: Orders, useClass: PgOrders }]',
      ['dependency-not-provided'],
    ],
    [
      'twice with the same class',
      '[Names, { provide: Orders, useClass: PgOrders }, { provide: Orders, useClass: PgOrders }]',
      [],
    ],
  ])('%s', async (_what, providers, expected) => {
    const more = `export class Better extends PgOrders {}
export abstract class Half extends Orders {}
@Controller('odd') export class Odd extends Orders { all() { return [] } @Get() y() {} }\n`
    const marked = more.replace('export class Better', '@Injectable() export class Better')
    const used = providers.includes('Better')
      ? marked
      : marked.replace('@Injectable() export class Better', 'export class Better')
    const { slugs } = await app(text(`{ controllers: [A, Odd], providers: ${providers} }`, used))
    // Without its recipe, no module lists the class that it would use.
    expect(slugs.filter((slug) => slug !== 'class-not-listed')).toEqual(expected)
  })

  it('of a class that decorates what it stands for is a circle', async () => {
    const more = `@Injectable() export class Cached extends Orders { constructor(private readonly inner: Orders) { super() } all() { return this.inner.all() } }\n`
    const { slugs } = await app(
      text('{ controllers: [A], providers: [Names, { provide: Orders, useClass: Cached }] }', more).replace(
        '@Injectable() export class PgOrders',
        'export class PgOrders',
      ),
    )
    expect(slugs).toEqual(['dependency-cycle'])
  })

  it('is exported by the class that it provides', async () => {
    const of = async (exported: string) =>
      (
        await split(
          '{ imports: [OrdersModule], controllers: [A] }',
          `@Module({ providers: [Names, { provide: Orders, useClass: PgOrders }], exports: [${exported}] }) export class OrdersModule {}\n`,
        )
      ).slugs
    expect(await of('Orders')).toEqual([])
    expect(await of('Names')).toEqual(['dependency-not-exported'])
    expect(await of('PgOrders')).toEqual(['dependency-not-exported', 'export-not-provided'])
  })
})
