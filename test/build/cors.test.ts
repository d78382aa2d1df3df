/** The declaration of `cors`: its defaults, and lists of origins that are refused (contract 2.10). */
import { describe, expect, it } from 'vitest'
import { buildProject, temporaryProject } from '../support/project.ts'

const built = (cors: string) =>
  buildProject(
    temporaryProject({
      'src/app.module.ts': `import { Controller, Get, Module } from '@stack/backend'
@Controller('a', { auth: false }) export class A { @Get() x() {} }
@Module({ controllers: [A]${cors} }) export class AppModule {}
`,
    }),
  )

describe('cors', () => {
  it('has its defaults in the table; without it there is none', async () => {
    const result = await built(`, cors: { origins: ['https://app.example', 'http://localhost:5173'], maxAge: 0 }`)
    expect(result.built?.table.cors).toEqual({
      origins: ['https://app.example', 'http://localhost:5173'],
      credentials: false,
      headers: ['authorization', 'content-type'],
      exposed: ['x-request-id'],
      maxAge: 0,
    })
    expect((await built('')).built?.table).not.toHaveProperty('cors')
  })

  it.each([
    [`{ origins: '*' }`, 'option-malformed'],
    [`{ origins: ['https://app.example/'] }`, 'option-malformed'],
    [`{ origins: ['https://App.example'] }`, 'option-malformed'],
    [`{ origins: ['https://app.example:443'] }`, 'option-malformed'],
    [`{ origins: ['app.example'] }`, 'option-malformed'],
    [`{ origins: ['https://*.example'] }`, 'option-malformed'],
    [`{ origins: ['null'] }`, 'option-malformed'],
    [`{ origins: [process.env.ORIGIN] }`, 'option-not-constant'],
    [`{ origins: ['*', 'https://app.example'] }`, 'cors-open'],
    [`{ origins: ['*'], credentials: true }`, 'cors-open'],
    [`{ credentials: true }`, 'option-missing'],
    [`{ origins: [], headers: ['x y'] }`, 'option-malformed'],
    [`{ origins: [], origin: 'x' }`, 'option-unknown'],
    ['true', 'option-malformed'],
  ])('%s: %s', async (cors, slug) => {
    expect((await built(`, cors: ${cors}`)).refusals.map((refusal) => refusal.slug)).toEqual([slug])
  })
})
