/** Every refusal: a program that gets it and nothing else, and its nearest twin that gets none (contract 8.1, 8.2). */
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { refusals, type Slug } from '../../build/refusals/index.ts'
import { buildProject, rendered, temporaryProject } from '../support/project.ts'
import { fixtureFiles, fixtures } from '../support/seed.ts'

it('the fixtures and the catalogue name the same refusals', () => {
  expect(fs.readdirSync(fixtures).sort()).toEqual(Object.keys(refusals).sort())
})

describe.each(Object.keys(refusals) as Slug[])('%s', (slug) => {
  it('is what the refused program gets, and all it gets', async () => {
    const root = temporaryProject(fixtureFiles(slug, 'app.ts'))
    const result = await buildProject(root, ['staff'])
    expect([...new Set(result.refusals.map((refusal) => refusal.slug))]).toEqual([slug])
    const isError = result.refusals.some(({ severity }) => severity === 'error')
    expect(result.built === undefined).toBe(isError)
    expect(fs.existsSync(path.join(root, '.stack'))).toBe(!isError)
    await expect(`${rendered(root, result)}\n`).toMatchFileSnapshot(path.join(fixtures, slug, 'expected.txt'))
  })

  it('is not what its accepted twin gets', async () => {
    const root = temporaryProject(fixtureFiles(slug, 'accepted.ts'))
    const result = await buildProject(root, ['staff'])
    expect(rendered(root, result)).toBe('')
    expect(result.built).toBeDefined()
  })
})
