/** `stack cron list|run` (contract 2.12, 10.5). */
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import type { CronResult } from '../../local/cron.ts'
import { findPort } from '../../local/ports.ts'
import { localCronPath } from '../../src/wire/reserved-paths.ts'
import { stack, start } from '../support/command.ts'
import { temporaryFolder, temporaryProject } from '../support/project.ts'
import { useStack } from '../support/stack.ts'

const running = useStack('test/edge/scheduled')

/** @returns the project of the running stack. @throws Error where the stack has left no record. */
function here(): string {
  if (!fs.existsSync(path.join(running.root, '.stack/local.json'))) throw new Error('the stack has left no record')
  return running.root
}

describe('stack cron list', () => {
  it('shows each schedule, its method and its next run', async () => {
    const { code, stdout, stderr } = await stack(['cron', 'list'], { cwd: here() })
    expect([code, stdout]).toEqual([0, ''])
    expect(stderr).toMatch(
      /^scheduled\n {2}SCHEDULE +METHOD +NEXT RUN \(UTC\)\n {2}0 0 29 FEB \* +Jobs\.record +\d{4}-02-29T00:00:00Z\n/,
    )
    expect(stderr.split('\n').filter((line) => line.includes('  Jobs.'))).toHaveLength(4)
    expect(stderr).toContain('(auth)')
  })

  it('prints the same as JSON', async () => {
    const { code, stdout, stderr } = await stack(['cron', 'list', '--json'], { cwd: here() })
    expect([code, stderr]).toEqual([0, ''])
    const { data } = JSON.parse(stdout)
    expect(data).toContainEqual({
      schedule: '15 0 29 FEB *',
      name: 'Jobs.asUser',
      worker: 'backend',
      next_run: expect.stringMatching(/^\d{4}-02-29T00:15:00Z$/),
    })
    expect(data.filter(({ name }: { name: string }) => name === 'Jobs.record')).toHaveLength(2)
  })
})

describe('stack cron run', () => {
  it('runs a method at once, and says how it ended', async () => {
    const { code, stdout, stderr } = await stack(['cron', 'run', 'Jobs.record'], { cwd: here() })
    expect([code, stdout]).toEqual([0, ''])
    expect(stderr).toMatch(/^Jobs\.record finished in \d+ ms \(req_[0-9A-Z]{26}\)\n$/)
    expect(await running.sql("select count(*)::int from runs where job = 'record'")).toEqual([{ count: 1 }])
  })

  it('is exit 1 with the reason where the method throws', async () => {
    const { code, stdout, stderr } = await stack(['cron', 'run', 'Jobs.fail'], { cwd: here() })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^error: Jobs\.fail failed in \d+ ms \(req_\w+\): TypeError: there is no paper\n$/)
  })

  it('prints the outcome as JSON, and exits by it', async () => {
    for (const [name, code, outcome] of [
      ['Jobs.record', 0, 'finished'],
      ['Jobs.fail', 1, 'failed'],
    ] as const) {
      const run = await stack(['cron', 'run', name, '--json'], { cwd: here() })
      expect([run.code, JSON.parse(run.stdout)]).toMatchObject([code, { name, outcome }])
    }
  })

  it('is exit 2 for a name that no method has, with the one that it resembles', async () => {
    const near = await stack(['cron', 'run', 'Jobs.recrod'], { cwd: here() })
    expect([near.code, near.stderr]).toEqual([
      2,
      'error: no scheduled method is named Jobs.recrod: did you mean Jobs.record?\n',
    ])
    const far = await stack(['cron', 'run', 'Backups'], { cwd: here() })
    expect([far.code, far.stderr]).toEqual([
      2,
      expect.stringMatching(
        /^error: no scheduled method is named Backups: scheduled: Jobs\.record, Jobs\.fail, Jobs\.asUser[,\n]/,
      ),
    ])
  })

  it('is exit 3 where another stack has the port of the record', async () => {
    const root = temporaryFolder()
    fs.cpSync(here(), root, { recursive: true, filter: (name) => !/node_modules|db$|storage$/.test(name) })
    const file = path.join(root, '.stack/local.json')
    const record = JSON.parse(fs.readFileSync(file, 'utf8'))
    fs.writeFileSync(file, JSON.stringify({ ...record, service_role_key: 'srk_another' }))
    const { code, stderr } = await stack(['cron', 'run', 'Jobs.record'], { cwd: root })
    expect([code, stderr]).toEqual([3, expect.stringContaining('no stack of this project runs here')])
  })
})

describe('a stack whose requests log more than the pipe of the log holds', () => {
  it('runs a method as often as it is asked to, and answers', async () => {
    const root = temporaryProject({
      'stack/project.json': '{ "project": "talk" }',
      'src/app.module.ts': `import { Controller, Cron, Get, Injectable, Log, Module } from '@stack/backend'
const talk = () => { for (let line = 0; line < 100; line += 1) Log.info('x'.repeat(2_000)) }
@Injectable() export class Jobs { @Cron('0 6 * * *') talk() { talk() } }
@Controller('/talk', { auth: false }) export class TalkController { @Get() talk() { talk() } }
@Module({ controllers: [TalkController], providers: [Jobs] }) export class AppModule {}
`,
    })
    const url = `http://127.0.0.1:${await findPort()}`
    const running = start(['start', '--project', root, '--port', new URL(url).port])
    await running.seen('Ctrl-C ends')
    const stuck = setTimeout(() => running.child.kill('SIGKILL'), 60_000) // a stack that is stuck ends by no other signal
    const record = JSON.parse(fs.readFileSync(path.join(root, '.stack/local.json'), 'utf8'))
    const run = () =>
      fetch(`${url}${localCronPath}`, {
        method: 'POST',
        headers: { apikey: record.service_role_key, 'content-type': 'application/json' },
        body: '{ "name": "Jobs.talk" }',
      })
    let isOver = false
    const talking = Array.from({ length: 20 }, async () => {
      while (!isOver) await (await fetch(`${url}/talk`)).arrayBuffer()
    })
    const outcomes: string[] = []
    for (let count = 0; count < 10; count += 1) outcomes.push(((await (await run()).json()) as CronResult).outcome)
    isOver = true
    await Promise.all(talking)
    clearTimeout(stuck)
    expect(outcomes).toEqual(Array(10).fill('finished'))
  })
})

describe('without a stack that runs', () => {
  const source = (body: string) => `import { Cron, Injectable, Module } from '@stack/backend'
@Injectable() export class Jobs { ${body} }
@Module({ providers: [Jobs] }) export class AppModule {}
`
  const project = async (body: string) => {
    const root = temporaryProject({ 'stack/project.json': '{ "project": "jobs" }', 'src/app.module.ts': source(body) })
    expect((await stack(['build'], { cwd: root })).code).toBe(0)
    return root
  }

  it('list reads the last build, and run is exit 3', async () => {
    const root = await project(`@Cron('0 6 * * *') go() {}`)
    expect((await stack(['cron', 'list'], { cwd: root })).stderr).toMatch(/0 6 \* \* \* +Jobs\.go/)
    const { code, stderr } = await stack(['cron', 'run', 'Jobs.go'], { cwd: root })
    expect([code, stderr]).toEqual([3, expect.stringContaining('`stack start` runs one')])
  })

  it('list says how to schedule a method where there is none', async () => {
    const { code, stderr } = await stack(['cron', 'list'], { cwd: await project('') })
    expect([code, stderr]).toEqual([0, expect.stringContaining("@Cron('0 3 * * *')")])
  })

  it('a project that is not built is exit 1', async () => {
    const root = temporaryProject({ 'stack/project.json': '{ "project": "jobs" }' })
    const { code, stderr } = await stack(['cron', 'list'], { cwd: root })
    expect([code, stderr]).toEqual([1, 'error: the project is not built yet: run `stack build`\n'])
  })
})
