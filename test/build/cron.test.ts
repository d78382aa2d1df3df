/** A scheduled method in the route table, in the bindings, in the report, and refused where it cannot run (contract 2.12). */
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { report } from '../../build/emit/report.ts'
import { missingBindings } from '../../cli/project/bindings.ts'
import { buildProject, temporaryProject } from '../support/project.ts'

const source = (body: string, more = '') => `import * as sdk from '@stack/backend'
import { Controller, Cron, Get, Injectable, Module, On, Webhook } from '@stack/backend'
${more}
@Injectable() export class Jobs { ${body} }
@Module({ providers: [Jobs] }) export class AppModule {}
`
const built = async (body: string, more = '') => {
  const root = temporaryProject({ 'src/app.module.ts': source(body, more) })
  const result = await buildProject(root)
  return { root, result, slugs: result.refusals.map(({ slug }) => slug) }
}

describe('a scheduled method', () => {
  it('is a row of the table for each of its schedules, which are written as they are compared', async () => {
    const { root, result } = await built(
      `private readonly every = '*/5 * * * *'\n@Cron('*/5  * * * *') @Cron(weekly) a() {}\n@sdk.Cron(weekly) async b() {}`,
      `const weekly = '0 6 * * mon'`,
    )
    expect(result.refusals).toEqual([])
    const row = { target: 0, class: 'Jobs', file: 'src/app.module.ts' }
    const crons = [
      { ...row, schedule: '*/5 * * * *', handler: 'a', line: 5 },
      { ...row, schedule: '0 6 * * MON', handler: 'a', line: 5 },
      { ...row, schedule: '0 6 * * MON', handler: 'b', line: 6 },
    ]
    expect(result.built?.table.crons).toEqual(crons)
    expect(JSON.parse(fs.readFileSync(path.join(root, '.stack/table.json'), 'utf8')).crons).toEqual(crons)
    expect(fs.readFileSync(path.join(root, '.stack/bindings.toml'), 'utf8')).toContain(
      '[triggers]\ncrons = ["*/5 * * * *", "0 6 * * MON"]\n',
    )
  })

  it('8.3 is reported with its schedule, and a project without any is reported as before', async () => {
    const { result } = await built(`@Cron('0 6 * * MON') a() {}\n@Cron('*/5 * * * *') b() {}`)
    const lines = report(result.built!.table, [], 1).split('\n')
    expect(lines).toEqual([
      'scheduled (UTC)',
      '  0 6 * * MON  Jobs.a',
      '  */5 * * * *  Jobs.b',
      '',
      expect.stringMatching(/^built 0 routes, 0 webhooks and 2 schedules in 1 ms: /),
    ])
    const none = await built('')
    expect(none.result.built!.table.crons).toBeUndefined()
    expect(report(none.result.built!.table, [], 1)).toMatch(/^built 0 routes and 0 webhooks in 1 ms: /)
  })

  it('is missed in a wrangler.toml without its trigger, in whatever case that is written', async () => {
    const { root } = await built(`@Cron('0 6 * * MON') a() {}\n@Cron('*/5 * * * *') b() {}`)
    const said = (wrangler: string) => {
      fs.writeFileSync(path.join(root, 'wrangler.toml'), wrangler)
      return missingBindings(root, path.join(root, '.stack'))
    }
    const where = 'what it needs is in .stack/bindings.toml\n'
    expect(said('name = "STACK_POOL"\n')).toBe(`! wrangler.toml does not trigger */5 * * * *, 0 6 * * MON: ${where}`)
    expect(said("name = 'STACK_POOL'\n[triggers]\ncrons = [\n  '0 6 * * mon',\n]\n")).toBe(
      `! wrangler.toml does not trigger */5 * * * *: ${where}`,
    )
    expect(said('name = "STACK_POOL"\ntriggers.crons = ["*/5 * * * *", "0 6 * * MON"]\n')).toBe('')
  })

  it.each([
    ['a variable that is computed', '@Cron(String(1)) a() {}', ['option-not-constant']],
    ['no schedule', '@Cron() a() {}', ['argument-missing']],
    ['a list of schedules', "@Cron(['0 6 * * *']) a() {}", ['option-malformed']],
    ['a time zone, which there is none of', "@Cron('0 6 * * *', { timeZone: 'UTC' }) a() {}", ['argument-superfluous']],
    ['a decorator that is not called', '@Cron a() {}', ['decorator-not-called']],
    ['a static method', "@Cron('0 6 * * *') static a() {}", ['handler-unfit']],
    ['a name that a later member has', "@Cron('0 6 * * *') a() {}\na = 1", ['handler-twice']],
    ['a parameter with a default', "@Cron('0 6 * * *') a(day = 1) { return day }", ['cron-with-parameters']],
    ['an injector', "@Cron('0 6 * * *') a(@sdk.RequestId() id: string) { return id }", ['cron-with-parameters']],
  ])('%s is refused', async (_what, body, slugs) => {
    expect((await built(body)).slugs).toEqual(slugs)
  })

  it.each([
    [
      'a webhook',
      `@Webhook({ name: 'a', provider: 'stripe', secret: { env: 'A' } }) export class Hook {
      @On('invoice.paid') @Cron('0 6 * * *') a() {} }\n@Module({ providers: [Hook] }) export class Other {}`,
    ],
    [
      'a controller that is injectable too',
      `@Injectable() @Controller('a') export class Hook {
      @Get() @Cron('0 6 * * *') a() {} }\n@Module({ controllers: [Hook] }) export class Other {}`,
    ],
    ['a module', `@Module({}) export class Other { @Cron('0 6 * * *') a() {} }`],
    [
      'a provider without @Injectable',
      `export class Hook { @Cron('0 6 * * *') a() {} }
      @Module({ providers: [Hook] }) export class Other {}`,
    ],
    [
      'a class that a recipe replaces',
      `@Injectable() export class Hook { @Cron('0 6 * * *') a() {} }
      export class Real implements Hook { a() {} }
      @Module({ providers: [{ provide: Hook, useClass: Real }] }) export class Other {}`,
    ],
  ])('%s has none', async (_what, more) => {
    const root = temporaryProject({
      'src/app.module.ts': `import { Module } from '@stack/backend'
import { Other } from './other.ts'
@Module({ imports: [Other] }) export class AppModule {}
`,
      'src/other.ts': `import { Controller, Cron, Get, Injectable, Module, On, Webhook } from '@stack/backend'\n${more}`,
    })
    expect((await buildProject(root)).refusals.map(({ slug }) => slug)).toEqual(['cron-misplaced'])
  })

  it('of a class that no module lists is refused for its class', async () => {
    const { slugs } = await built('', `@Injectable() export class Lost { @Cron('0 6 * * *') a() {} }`)
    expect(slugs).toEqual(['class-not-listed'])
  })

  it('has its counterpart of another framework refused, with what to write', async () => {
    const { slugs, result } = await built('@Interval(5000) a() {}', `import { Interval } from '@nestjs/schedule'`)
    expect(slugs).toContain('import-lost')
    expect(result.built).toBeUndefined()
  })
})
