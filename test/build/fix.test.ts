/** `stack build --fix` applies exact fixes and changes nothing else (contract 8.2). */
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { Compiler } from '../../build/compiler.ts'
import { applyFixes } from '../../build/fix.ts'
import type { Slug } from '../../build/refusals/index.ts'
import { stack } from '../support/command.ts'
import { buildProject, rendered, targetOf, temporaryProject } from '../support/project.ts'
import { fixtureFiles, seed, seedable } from '../support/seed.ts'

/**
 * Checks a project and applies its fixes, again and again until there is none.
 * @returns how many rounds had a fix.
 */
async function fixAll(root: string): Promise<number> {
  const compiler = new Compiler(targetOf(root, ['staff']))
  let rounds = 0
  for (let touched = new Set<string>(); ; rounds++) {
    const { fixed, changed } = applyFixes(root, compiler.check(touched).refusals)
    if (fixed.length === 0) break
    touched = changed
  }
  await compiler.close()
  return rounds
}

const read = (root: string, name = 'src/app.module.ts') => fs.readFileSync(path.join(root, name), 'utf8')

const fixable: Slug[] = [
  'class-not-exported',
  'decorator-not-called',
  'decorator-not-imported',
  'default-export',
  'path-parameter-unknown',
  'provider-not-injectable',
  'tsconfig-with-metadata',
  'tsconfig-without-decorators',
]

describe.each(fixable)('%s', (slug) => {
  it('is fixed: the program is accepted, and fixing it again changes nothing', async () => {
    const root = temporaryProject(fixtureFiles(slug, 'app.ts'))
    expect(await fixAll(root)).toBeGreaterThan(0)
    const result = await buildProject(root, ['staff'])
    expect(rendered(root, result)).toBe('')
    const files = Object.keys(fixtureFiles(slug, 'app.ts'))
    const before = files.map((name) => read(root, name))
    expect(await fixAll(root)).toBe(0)
    expect(files.map((name) => read(root, name))).toEqual(before)
  })
})

it('the fixtures of every other refusal are left as they are', async () => {
  for (const slug of seedable.filter((one) => !fixable.includes(one))) {
    const files = fixtureFiles(slug, 'app.ts')
    const root = temporaryProject(files)
    await fixAll(root)
    for (const [name, text] of Object.entries(files)) expect([slug, read(root, name)]).toEqual([slug, text])
  }
})

it('a project with a mistake of every kind loses those that have an exact fix, and gets no other', async () => {
  const root = temporaryProject(seed(seedable.filter((slug) => slug !== 'syntax-error')))
  await fixAll(root)
  const { refusals } = await buildProject(root, ['staff'])
  const left = new Set(refusals.map(({ slug }) => slug))
  expect([...left].filter((slug) => !seedable.includes(slug))).toEqual([])
  expect(fixable.filter((slug) => left.has(slug))).toEqual([])
  expect(left.has('syntax-error')).toBe(false)
})

describe('an edit', () => {
  const app = `import { Controller, Get, Module } from '@stack/backend'

@Controller
export class A {
  @Get list() { return 'ä' }
}

@Module({ controllers: [A] })
export class AppModule {}
`

  it.each([
    ['line ends of Windows', app.replaceAll('\n', '\r\n')],
    ['a byte order mark', `\ufeff${app}`],
    ['tabs and comments', app.replaceAll('  @Get', '\t/* before */ @Get/* after */')],
  ])('keeps %s', async (_what, text) => {
    const root = temporaryProject({ 'src/app.module.ts': text })
    await fixAll(root)
    expect(read(root)).toBe(text.replace('@Controller', '@Controller()').replace(/@Get(?![A-Za-z,])/, '@Get()'))
    expect((await buildProject(root)).refusals).toEqual([])
  })

  it('of an import goes where the imports end, with the line ends of the file', async () => {
    const text = `// a comment\r\nimport { Module } from '@stack/backend'\r\nimport {\r\n  X\r\n} from './x'\r\n\r\n@Module({ imports: [X] })\r\nexport class AppModule {}\r\n`
    const x = `import type { UserT } from '@stack/backend'\r\nexport type U = UserT\r\n@Module({})\r\nexport class X {}\r\n`
    const root = temporaryProject({ 'src/app.module.ts': text, 'src/x.ts': x })
    await fixAll(root)
    expect(read(root)).toBe(text)
    expect(read(root, 'src/x.ts')).toBe(
      x.replace(`'@stack/backend'\r\n`, `'@stack/backend'\r\nimport { Module } from '@stack/backend'\r\n`),
    )
    expect((await buildProject(root)).refusals).toEqual([])
  })

  it('keeps the mode of a file', async () => {
    const root = temporaryProject({ 'src/app.module.ts': app })
    fs.chmodSync(path.join(root, 'src/app.module.ts'), 0o600)
    await fixAll(root)
    expect(fs.statSync(path.join(root, 'src/app.module.ts')).mode & 0o777).toBe(0o600)
  })

  it('of a list that a constant holds elsewhere is not made', async () => {
    const text = `import { Controller, Get, Module } from '@stack/backend'
const controllers = [] as const
@Controller('/a') export class A { @Get() list() { return 1 } }
@Module({ controllers })
export class AppModule {}
`
    const root = temporaryProject({ 'src/app.module.ts': text })
    expect(await fixAll(root)).toBe(0)
    expect(read(root)).toBe(text)
  })
})

describe('stack build --fix', () => {
  it('says what it fixed, then builds; a second time there is nothing to fix', async () => {
    const files = { ...fixtureFiles('decorator-not-called', 'app.ts'), 'stack/project.json': '{ "project": "shop" }' }
    const root = temporaryProject(files)
    const first = await stack(['build', '--fix', '--project', root])
    expect(first.code).toBe(0)
    expect(first.stderr).toMatch(/^fixed\[decorator-not-called\]: src\/app\.module\.ts:\d+:\d+ .*\n1 fixed\n\nroutes\n/)
    const fixed = read(root)
    const second = await stack(['build', '--fix', '--project', root])
    expect(second.stderr).toMatch(/^nothing to fix that has one exact fix\n/)
    expect(read(root)).toBe(fixed)
  })

  it('a build that is refused after an edit names the edited file, and one that edited none says that nothing was written', async () => {
    const mistaken = `import { Controller, Get, Module } from '@stack/backend'
@Controller export class A { @Get('//') list() {} }
@Module({ controllers: [A] }) export class AppModule {}
`
    const root = temporaryProject({ 'src/app.module.ts': mistaken, 'stack/project.json': '{ "project": "shop" }' })
    const first = await stack(['build', '--fix', '--project', root])
    expect(first.code).toBe(1)
    expect(first.stderr).toContain('\n1 error: nothing was built, and --fix has edited src/app.module.ts\n')
    const second = await stack(['build', '--fix', '--project', root])
    expect(second.stderr).toContain('\n1 error: nothing was written\n')
  })
})

describe('a choice is left to people:', () => {
  const app = (
    route: string,
    module = '{ controllers: [A] }',
  ) => `import { Controller, Get, Injectable, Module, OptionalUser, Param, User, type UserT } from '@stack/backend'
@Controller('a') export class A { ${route} }
@Module(${module}) export class AppModule {}
`
  it.each([
    ['whether a route is public', app('@Get("", { auth: false }) x(@User() user: UserT) { return user.id }')],
    ['whether a route requires a user', app('@Get() x(@OptionalUser() user: UserT | null) { return user }')],
    ['whether a controller is served at all', app('@Get() x() {}', '{}')],
    ['which of two equal entries was meant to be another', app('@Get() x() {}', '{ controllers: [A, A] }')],
    ['which name of a path parameter is wrong', app(`@Get('/:org') x(@Param('id') id: string) { return id }`)],
  ])('%s', async (_what, text) => {
    const root = temporaryProject({ 'src/app.module.ts': text })
    expect((await buildProject(root)).refusals).not.toEqual([])
    expect(await fixAll(root)).toBe(0)
    expect(read(root)).toBe(text)
  })

  it('whether a module shares a provider', async () => {
    const files = fixtureFiles('dependency-not-exported', 'app.ts')
    const root = temporaryProject(files)
    expect(await fixAll(root)).toBe(0)
  })
})
