/** Scheduled methods run in workerd, without a user, in transactions of their own (contract 2.12). */
import * as fs from 'node:fs'
import path from 'node:path'
import { Log, LogLevel, Miniflare } from 'miniflare'
import { describe, expect, it, onTestFinished } from 'vitest'
import { build } from '../../build/index.ts'
import type { BuildOptions } from '../../build/options.ts'
import { linkPackages, targetOf, temporaryProject } from '../support/project.ts'
import { call, useStack } from '../support/stack.ts'

describe('a method of the local stack that is run by its name', () => {
  const stack = useStack('test/edge/scheduled')
  const address = '/cdn-cgi/stack/cron'
  const run = (name: unknown, apikey = stack.stack.record.service_role_key) =>
    stack.call(address, { json: { name }, headers: { apikey } })

  it('commits as the service, sees no row as the caller, and logs its request id', async () => {
    await stack.sql("insert into runs (job, request_id) values ('seed', '')")
    const { status, json } = await run('Jobs.record')
    expect(status).toBe(200)
    expect(json).toMatchObject({ name: 'Jobs.record', outcome: 'finished', error: null })
    expect(json.request_id).toMatch(/^req_[0-9A-Z]{26}$/)
    expect(await stack.sql("select job, callers_rows from runs where job = 'record'")).toEqual([
      { job: 'record', callers_rows: 0 },
    ])
    const of = stack.log.filter(({ request_id }) => request_id === json.request_id)
    expect(of).toMatchObject([
      { message: 'recording', secret: true },
      { level: 'info', message: 'cron Jobs.record finished', class: 'Jobs', method: 'record', outcome: 'finished' },
    ])
    expect(Object.keys(of[1]!)).toEqual(expect.arrayContaining(['schedule', 'scheduled_at', 'duration_ms']))
  })

  it('has another id at each run', async () => {
    const runs = await Promise.all([run('Jobs.record'), run('Jobs.record'), run('Jobs.fail')])
    expect(runs.map(({ json }) => json.outcome)).toEqual(['finished', 'finished', 'failed'])
    expect(new Set(runs.map(({ json }) => json.request_id)).size).toBe(3)
  })

  it('rolls back where it throws, and is logged as failed with the reason', async () => {
    const { status, json } = await run('Jobs.fail')
    expect([status, json.outcome, json.error]).toEqual([200, 'failed', 'TypeError: there is no paper'])
    expect(await stack.sql("select 1 from runs where job = 'fail'")).toEqual([])
    const line = stack.log.find(({ request_id }) => request_id === json.request_id)
    expect(line).toMatchObject({
      level: 'error',
      message: 'cron Jobs.fail failed',
      class: 'Jobs',
      method: 'fail',
      schedule: '0 0 29 FEB *',
      outcome: 'failed',
      error: 'TypeError: there is no paper',
    })
  })

  it('has no user: the caller’s transaction is refused what an anonymous caller is', async () => {
    const { json } = await run('Jobs.asUser')
    expect([json.outcome, json.error]).toEqual([
      'failed',
      expect.stringMatching(/permission denied|row-level security/),
    ])
  })

  it.each([
    ['another key', 'Jobs.record', 'srk_another', 401],
    ['no key', 'Jobs.record', '', 401],
    ['an unknown name', 'Jobs.nothing', undefined, 404],
    ['a schedule in place of a name', '0 0 29 FEB *', undefined, 404],
    ['a name that is no text', 7, undefined, 404],
  ])('with %s is refused', async (_what, name, key, status) => {
    const before = await stack.sql('select count(*) from runs')
    expect((await run(name, key)).status).toBe(status)
    expect(await stack.sql('select count(*) from runs')).toEqual(before)
  })

  it('is run by POST alone', async () => {
    const headers = { apikey: stack.stack.record.service_role_key }
    expect((await stack.call(address, { headers })).status).toBe(405)
    expect((await call(`${stack.url}${address}/more`, { headers, json: {} })).status).toBe(404)
  })
})

describe.each(['an object', 'a class'])('the handler of a worker whose entry is %s', (form) => {
  const source = `import { Cron, Injectable, Log, Module } from '@stack/backend'
@Injectable() export class First {
  @Cron('0 3 * * *') fail() { Log.info('first begins'); throw new Error('lost') }
}
@Injectable() export class Été日 {
  @Cron('0 3 * * *') @Cron('0 4 * * mon') async go() { await null; Log.info('second went') }
  ping() { return 'pong' }
}
@Module({ providers: [First, Été日] }) export class AppModule {}
`

  async function start(): Promise<{ worker: Miniflare; lines: Record<string, unknown>[] }> {
    const root = temporaryProject({ 'src/app.module.ts': source })
    linkPackages(root)
    const options: BuildOptions = {
      ...targetOf(root),
      ...(form === 'a class' ? { rpc: [{ class: 'Été日', method: 'ping' }] } : {}),
    }
    expect((await build(options)).refusals).toEqual([])
    const contents = fs.readFileSync(path.join(root, '.stack/out/worker.js'), 'utf8')
    const lines: Record<string, unknown>[] = []
    const worker = new Miniflare({
      cf: false,
      log: new Log(LogLevel.NONE),
      structuredWorkerdLogs: true,
      handleStructuredLogs({ message }: { message: string }) {
        if (message.startsWith('{')) lines.push(JSON.parse(message))
      },
      modules: [{ type: 'ESModule', path: 'worker.js', contents }],
      compatibilityDate: '2026-07-30',
      compatibilityFlags: ['nodejs_compat'],
    })
    onTestFinished(() => worker.dispose())
    return { worker, lines }
  }

  it('runs every method of the schedule, also beside one that fails', async () => {
    const { worker, lines } = await start()
    const { outcome } = await (await worker.getWorker()).scheduled({ cron: '0 3 * * *', scheduledTime: new Date(0) })
    expect(outcome).toBe('exception')
    await expect
      .poll(() => lines.map(({ message }) => message).sort())
      .toEqual(['cron First.fail failed', 'cron Été日.go finished', 'first begins', 'second went'])
    expect(lines.find(({ outcome }) => outcome === 'finished')).toMatchObject({
      schedule: '0 3 * * *',
      scheduled_at: '1970-01-01T00:00:00.000Z',
    })
  })

  it('runs a method for each of its schedules, however the trigger spells it', async () => {
    const { worker, lines } = await start()
    const { outcome } = await (await worker.getWorker()).scheduled({ cron: '0 4 * * Mon' })
    expect(outcome).toBe('ok')
    await expect.poll(() => lines.map(({ message }) => message)).toEqual(['second went', 'cron Été日.go finished'])
  })

  it('fails an event that no method is scheduled for', async () => {
    const { worker, lines } = await start()
    const { outcome } = await (await worker.getWorker()).scheduled({ cron: '0 5 * * *' })
    expect(outcome).toBe('exception')
    await expect.poll(() => lines.map(({ schedule }) => schedule)).toEqual(['0 5 * * *'])
  })
})
