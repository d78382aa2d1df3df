/** Refusals in the formats for machines (contract 8.1, 8.2). */
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { toGithub, toSarif } from '../../build/formats.ts'
import type { Refusal } from '../../build/refusals/index.ts'
import { packageRoot, stack, start, startProcess } from '../support/command.ts'
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

/** A device on which every write fails. */
const hasFullDevice = fs.existsSync('/dev/full')
if (!hasFullDevice) process.stderr.write('a full disk is skipped: there is no /dev/full\n')

describe('github', () => {
  it('is one workflow command a line, with what has a meaning there escaped', () => {
    expect(toGithub(refusal, 'apps/shop/')).toBe(
      '::error file=apps/shop/src/a b%2Cc%3Ad.ts,line=3,endLine=3,col=5,endColumn=9,title=route-twice::' +
        '100 %25 sure,%0D%0Aof this: one%0Afix: remove it',
    )
  })

  it.each([
    ['%0A', '%250A'],
    ['\r\n::error::x', '%0D%0A::error::x'],
    ['\u001b[31m', '\\x1b[31m'],
  ])('a message, a fix and a name that hold %j end no command and begin none', (text, escaped) => {
    const hostile = toGithub({ ...refusal, message: text, fix: text, place: { ...place, file: text } }, '')
    expect(hostile).toContain(`::${escaped}%0Afix: ${escaped}`)
    expect(hostile).toContain(`file=${escaped.replaceAll(':', '%3A')},line=`)
    expect(hostile).not.toMatch(/[\r\n\u001b]/)
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
            artifactLocation: { uri: 'src/a%20b%2Cc%3Ad.ts', uriBaseId: 'SRCROOT' },
            region: { startLine: 3, startColumn: 5, endLine: 3, endColumn: 9 },
          },
        },
      ],
      relatedLocations: [{ message: { text: 'the first is here' } }],
    })
  })

  it.each([
    ['a:b.ts', 'a%3Ab.ts'], // Without a folder before it, a colon would end the scheme of a URI.
    ['src/a#b?c.ts', 'src/a%23b%3Fc.ts'],
    ['src/100%.ts', 'src/100%25.ts'],
    ['src/検索.ts', 'src/%E6%A4%9C%E7%B4%A2.ts'],
  ])('the file %s is the relative reference %s', (file, uri) => {
    const log = JSON.stringify(toSarif([{ ...refusal, place: { ...place, file } }], '', '1.2.3'))
    expect(log).toContain(`"artifactLocation":{"uri":"${uri}","uriBaseId":"SRCROOT"}`)
    expect(decodeURIComponent(new URL(uri, 'file:///base/').pathname)).toBe(`/base/${file}`)
  })
})

describe('stack build --format', () => {
  const project = { 'stack/project.json': '{ "project": "shop" }' }
  const warned = { ...fixtureFiles('role-unknown', 'app.ts'), ...project }
  const accepted = { ...fixtureFiles('route-twice', 'accepted.ts'), ...project }
  const refused = { ...fixtureFiles('route-twice', 'app.ts'), ...project }
  const build = (root: string, format: string, ...flags: string[]) =>
    stack(['build', '--project', root, '--format', format, ...flags])
  const counted = '1 error: nothing was written\nstack explain route-twice says why\n'

  it('8.1 sarif on stdout is one log, also when nothing is refused; the report of the build is on stderr', async () => {
    const { code, stdout, stderr } = await build(temporaryProject(accepted), 'sarif')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
      version: '2.1.0',
      runs: [{ tool: { driver: { name: 'stack', rules: [] } }, results: [] }],
    })
    expect(stderr).toMatch(/^routes\n[\s\S]*\nbuilt \d+ routes and 0 webhooks in /)
  })

  it('8.1 sarif of a refused build is one log on stdout; stderr has the count, and no frame', async () => {
    const { code, stdout, stderr } = await build(temporaryProject(refused), 'sarif')
    expect([code, stderr]).toEqual([1, counted])
    expect(JSON.parse(stdout).runs[0].results.map(({ ruleId }: { ruleId: string }) => ruleId)).toEqual(['route-twice'])
  })

  it.each([
    ['github', /^::warning file=src\/app\.module\.ts,line=\d+,.*title=role-unknown::.*\n$/],
    ['json', /^\{"slug":"role-unknown","severity":"warning",.*\n$/],
  ])('8.1 %s on stdout: a warning is one line, and nothing is there that is no refusal', async (format, expected) => {
    const { code, stdout, stderr } = await build(temporaryProject(warned), format)
    expect(code).toBe(0)
    expect(stdout).toMatch(expected)
    expect(stderr).toMatch(/^1 warning\nstack explain role-unknown says why\nroutes\n/)
  })

  it.each(['github', 'json'])('8.1 %s of a project without refusals leaves stdout empty', async (format) => {
    expect(await build(temporaryProject(accepted), format)).toMatchObject({ code: 0, stdout: '' })
  })

  it('8.1 what --fix says is on stderr, in every format', async () => {
    const root = temporaryProject({ ...fixtureFiles('class-not-exported', 'app.ts'), ...project })
    const { code, stdout, stderr } = await build(root, 'sarif', '--fix')
    expect([code, JSON.parse(stdout).runs[0].results]).toEqual([0, []])
    expect(stderr).toMatch(/^fixed\[class-not-exported\]: /)
  })

  it.each([
    ['json', '\n\n', (set: string) => JSON.parse(set).slug],
    ['github', '\n\n', (set: string) => /title=([\w-]+)::/.exec(set)?.[1]],
    ['sarif', '\n', (set: string) => JSON.parse(set).runs[0].results[0].ruleId],
  ])('8.1 %s with --watch: what a build says ends before the next one begins', async (format, end, slugOf) => {
    const root = temporaryProject(refused)
    const running = start(['build', '--project', root, '--format', format, '--watch'])
    await running.seen('watching for changes')
    const file = path.join(root, 'src/app.module.ts')
    const before = running.output().length
    fs.writeFileSync(file, `${fs.readFileSync(file, 'utf8')}\n`)
    await running.seen('says why', 20_000, before)
    running.child.kill('SIGINT')
    const { stdout } = await running.finished
    expect(stdout.endsWith(end)).toBe(true)
    const sets = stdout.slice(0, -end.length).split(end)
    expect(sets.length).toBeGreaterThanOrEqual(2)
    expect(new Set(sets.map(slugOf))).toEqual(new Set(['route-twice']))
  })

  it('8.1 a reader that closes the pipe changes no exit code', async () => {
    const { child, finished } = start(['build', '--project', temporaryProject(refused), '--format', 'sarif'])
    child.stdout!.destroy()
    const { code, stderr } = await finished
    expect([code, stderr]).toEqual([1, counted])
  })

  it.runIf(hasFullDevice)('8.1 a disk that is full is said, exit 1', async () => {
    const words = [process.execPath, path.join(packageRoot, 'bin/stack.cjs'), 'build', '--format', 'sarif', '--project']
    const command = [...words, temporaryProject(accepted)].map((word) => `'${word}'`).join(' ')
    const { code, stderr } = await startProcess('sh', ['-c', `${command} > /dev/full`], packageRoot).finished
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: .*ENOSPC/)])
  })
})
