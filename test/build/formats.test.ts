/** Refusals for machines (contract 8.2). */
import { describe, expect, it } from 'vitest'
import { toGithub, toSarif } from '../../build/formats.ts'
import type { Refusal } from '../../build/refusals/index.ts'
import { stack } from '../support/command.ts'
import { buildProject, temporaryProject } from '../support/project.ts'
import { fixtureFiles } from '../support/seed.ts'

const place = { file: 'src/a b,c:d.ts', start: 0, end: 4, line: 3, column: 5, endLine: 3, endColumn: 9 }
const refusal: Refusal = {
  slug: 'route-twice',
  severity: 'error',
  message: '100 % sure,\r\nof this: one',
  place,
  fix: 'remove it',
  related: [{ message: 'the first is here', place: { ...place, line: 1, endLine: 2 } }],
  isMasked: false,
  edits: [],
}

describe('github', () => {
  it('is one workflow command a line, with what has a meaning there escaped', () => {
    expect(toGithub(refusal, 'apps/shop/')).toBe(
      '::error file=apps/shop/src/a b%2Cc%3Ad.ts,line=3,endLine=3,col=5,endColumn=9,title=route-twice::' +
        '100 %25 sure,%0D%0Aof this: one%0Afix: remove it',
    )
  })

  it('gives no columns for a place of several lines, which has none there', () => {
    const wide = toGithub({ ...refusal, place: { ...place, endLine: 5 } }, '')
    expect(wide).toContain('line=3,endLine=5,title=')
  })
})

describe('sarif', () => {
  it('is a SARIF 2.1.0 log with one rule for each slug, and every place', async () => {
    const { refusals } = await buildProject(temporaryProject(fixtureFiles('dependency-cycle', 'app.ts')))
    const log = toSarif([...refusals, refusal], '', '1.2.3') as {
      version: string
      runs: {
        tool: { driver: { rules: { id: string }[] } }
        results: { ruleId: string; ruleIndex: number; relatedLocations?: unknown[] }[]
      }[]
    }
    expect(log.version).toBe('2.1.0')
    const [run] = log.runs
    expect(run!.tool.driver.rules.map(({ id }) => id)).toEqual(['dependency-cycle', 'route-twice'])
    for (const { ruleId, ruleIndex } of run!.results) expect(run!.tool.driver.rules[ruleIndex]!.id).toBe(ruleId)
    expect(run!.results.at(-1)).toMatchObject({
      level: 'error',
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: 'src/a%20b,c:d.ts', uriBaseId: 'SRCROOT' },
            region: { startLine: 3, startColumn: 5, endLine: 3, endColumn: 9 },
          },
        },
      ],
      relatedLocations: [{ message: { text: 'the first is here' } }],
    })
  })
})

describe('stack build --format', () => {
  const files = { ...fixtureFiles('role-unknown', 'app.ts'), 'stack/project.json': '{ "project": "shop" }' }

  it('sarif prints a log also when there is nothing to refuse', async () => {
    const accepted = fixtureFiles('route-twice', 'accepted.ts')
    const root = temporaryProject({ ...accepted, 'stack/project.json': '{ "project": "shop" }' })
    const { code, stdout, stderr } = await stack(['build', '--project', root, '--format', 'sarif'])
    expect([code, stdout]).toEqual([0, ''])
    expect(JSON.parse(stderr).runs[0].results).toEqual([])
  })

  it.each([
    ['github', /^::warning file=src\/app\.module\.ts,line=\d+,.*title=role-unknown::/],
    ['json', /^\{"slug":"role-unknown","severity":"warning",/],
  ])('%s: a warning, and nothing that is no refusal', async (format, expected) => {
    const root = temporaryProject(files)
    const { code, stderr } = await stack(['build', '--project', root, '--format', format])
    expect(code).toBe(0)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect(stderr).toMatch(expected)
  })
})
