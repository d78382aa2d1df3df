/** The declaration of rate limits: the most specific one, their bindings, and limits that are refused (contract 2.7). */
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildProject, temporaryProject } from '../support/project.ts'

const app = (controller: string, route: string) => `import { Controller, Get, Module } from '@stack/backend'
const strict = { requests: 5, seconds: 10, by: 'ip' } as const
@Controller('a', { auth: false${controller} })
export class A {
  @Get('x'${route}) x() {}
  @Get('y') y() {}
}
@Module({ controllers: [A] }) export class AppModule {}
`
const built = async (controller: string, route: string) => {
  const root = temporaryProject({ 'src/app.module.ts': app(controller, route) })
  const result = await buildProject(root)
  const file = path.join(root, '.stack/bindings.toml')
  return { result, text: fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined }
}

describe('a limit', () => {
  it('of a route replaces its controller’s; the bindings are written once each', async () => {
    const { result, text } = await built(`, limit: { requests: 100, seconds: 60, by: 'user' }`, ', { limit: strict }')
    expect(result.built?.table.routes.map(({ limit }) => limit)).toEqual([
      { binding: 'STACK_LIMIT_5_10', requests: 5, seconds: 10, by: 'ip', key: 'GET /a/x' },
      { binding: 'STACK_LIMIT_100_60', requests: 100, seconds: 60, by: 'user', key: '* /a' },
    ])
    expect(text).toMatch(
      /^# .*\n\[\[ratelimits\]\]\nname = "STACK_LIMIT_100_60"\nnamespace_id = "\d+"\nsimple = \{ limit = 100, period = 60 \}\n\n\[\[ratelimits\]\]\nname = "STACK_LIMIT_5_10"/,
    )
  })

  it('that nobody declares leaves no file', async () => {
    const { result, text } = await built('', '')
    expect([result.built?.table.routes[0]?.limit, text]).toEqual([undefined, undefined])
  })

  it('that is taken back takes its file with it', async () => {
    const root = temporaryProject({ 'src/app.module.ts': app('', ', { limit: strict }') })
    const file = path.join(root, '.stack/bindings.toml')
    await buildProject(root)
    expect(fs.existsSync(file)).toBe(true)
    fs.writeFileSync(path.join(root, 'src/app.module.ts'), app('', ''))
    await buildProject(root)
    expect(fs.existsSync(file)).toBe(false)
  })

  it.each([
    ['{ requests: 5, seconds: 30, by: "ip" }', 'option-malformed'],
    ['{ requests: 5, seconds: "60", by: "ip" }', 'option-malformed'],
    ['{ requests: 0, seconds: 60, by: "ip" }', 'option-malformed'],
    ['{ requests: 5, seconds: 60, by: "session" }', 'option-malformed'],
    ['{ requests: 5, seconds: 60 }', 'option-missing'],
    ['{ requests: 5, seconds: 60, by: "ip", burst: 2 }', 'option-unknown'],
    ['{ requests: Number("5"), seconds: 60, by: "ip" }', 'option-not-constant'],
    ['5', 'option-malformed'],
  ])('%s is none: %s', async (limit, slug) => {
    const { result } = await built('', `, { limit: ${limit} }`)
    expect(result.refusals.map((refusal) => refusal.slug)).toEqual([slug])
  })
})
