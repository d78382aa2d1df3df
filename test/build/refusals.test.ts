/** Every refusal has a program that gets it alone, and the most similar program that gets none (contract 8.1, 8.2). */
import * as fs from 'node:fs'
import path from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { type Application, applicationOf as read } from '../../build/application.ts'
import { Program } from '../../build/program.ts'
import { createReader } from '../../build/read/index.ts'
import { refusals, type Slug } from '../../build/refusals/index.ts'
import { checkApplication } from '../../build/refuse/index.ts'
import { render } from '../../build/render.ts'
import { buildProject, declaredRole, rendered, targetOf, temporaryProject } from '../support/project.ts'
import { administeredIn, evaluated, fixtureFiles, fixtures } from '../support/seed.ts'

/** A terminal without colour, with the 80 columns of the narrowest that is common. */
const terminal = Object.assign(new PassThrough(), { columns: 80 }) as unknown as NodeJS.WriteStream

const slugs = Object.keys(refusals) as Slug[]
const page = fs.readFileSync(path.resolve(import.meta.dirname, '../../docs/refusals.md'), 'utf8')

it('the fixtures and the catalogue name the same refusals', () => {
  expect(fs.readdirSync(fixtures).sort()).toEqual(Object.keys(refusals).sort())
})

describe.each(slugs)('%s', (slug) => {
  it('is what the refused program gets, and all it gets', async () => {
    const root = temporaryProject(fixtureFiles(slug, 'app.ts'))
    const result = await buildProject(root, ['staff'], administeredIn(slug))
    expect([...new Set(result.refusals.map((refusal) => refusal.slug))]).toEqual([slug])
    const isError = result.refusals.some(({ severity }) => severity === 'error')
    expect(result.built === undefined).toBe(isError)
    expect(fs.existsSync(path.join(root, '.stack'))).toBe(!isError)
    // The sizes depend on this version.
    const text = rendered(root, result).replace(/\d+\.\d KiB/g, '… KiB')
    await expect(`${text}\n`).toMatchFileSnapshot(path.join(fixtures, slug, 'expected.txt'))
  })

  it('8.2 has a page of `stack explain` with its summary, its reason, and both programs', () => {
    const section = page.split(/^##+ /m).find((part) => part.startsWith(`${slug}\n`)) ?? ''
    const flat = section.replace(/\s+/g, ' ')
    const { summary, why } = refusals[slug]
    expect(flat).toContain(summary.slice(1).replace(/\s+/g, ' '))
    expect(flat).toContain(why)
    for (const name of ['app.ts', 'accepted.ts', 'expected.txt']) {
      expect(section).toContain(fs.readFileSync(path.join(fixtures, slug, name), 'utf8').trim())
    }
  })

  it('fits a terminal of 80 columns', async () => {
    const root = temporaryProject(fixtureFiles(slug, 'app.ts'))
    const { refusals: found } = await buildProject(root, ['staff'], administeredIn(slug))
    const sourceOf = (file: string) => fs.readFileSync(path.join(root, file), 'utf8')
    const text = render(found, { sourceOf, stream: terminal })
    expect(text.split('\n').filter((line) => line.length > 80 && !/^ +--> /.test(line))).toEqual([])
  })

  it('is not a refusal of its accepted variant', async () => {
    const root = temporaryProject(fixtureFiles(slug, 'accepted.ts'))
    const result = await buildProject(root, ['staff'], administeredIn(slug))
    expect(rendered(root, result)).toBe('')
    expect(result.built).toBeDefined()
  })
})

describe('a rule that is not in force', () => {
  // The result of esbuild gives the refusals of the bundle, not a rule.
  const ofBundle: Slug[] = ['bundle-failed', 'bundle-over-budget', 'eval-in-package', 'reflect-metadata-reached']
  const judged = slugs.filter((slug) => !ofBundle.includes(slug) && !evaluated.includes(slug))
  const { reserved } = targetOf('/')

  it.each(judged)('%s: its fixture, and no other one, is accepted', (disabled) => {
    for (const slug of judged) {
      const without = new Set<Slug>([disabled])
      const context = { reserved, roles: [declaredRole('staff')], administered: administeredIn(slug), without }
      const found = checkApplication(applicationOf(slug), context)
      expect([slug, found.length === 0]).toEqual([slug, slug === disabled])
    }
  })

  const applications = new Map<Slug, Application>()
  function applicationOf(slug: Slug): Application {
    const known = applications.get(slug)
    if (known) return known
    const root = temporaryProject(fixtureFiles(slug, 'app.ts'))
    const application = read(createReader(new Program(root, 'src/app.module.ts'))())
    applications.set(slug, application)
    return application
  }
})
