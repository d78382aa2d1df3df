/** The content of the bundle: the database driver where it is used, constants of packages, and a source map (contract 5.4, 8.5). */
import * as fs from 'node:fs'
import { SourceMap } from 'node:module'
import path from 'node:path'
import { Miniflare } from 'miniflare'
import { describe, expect, it, onTestFinished } from 'vitest'
import { legend } from '../../../build/emit/legend.ts'
import { buildProject, linkPackages, rendered, temporaryProject } from '../../support/project.ts'

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
    for (const word of ['DATABASE_URL', 'driver.js']) expect(worker(root)).not.toContain(word)
    expect(worker(root)).not.toMatch(/["'`]begin\b/) // the statement, not a method of that name
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
