/** `stack serve`: production on one's own machines (contract 10.5, 9.13, 9.14): one port, several processes, no lost request. */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { configOf } from '../../deploy/database.ts'
import { claimMinute } from '../../deploy/serve/crons.ts'
import { isAlive } from '../../local/processes.ts'
import { packageRoot } from '../support/command.ts'
import { createOwned, useExternalPostgres } from '../support/external-postgres.ts'
import { runScenario, scenario, transcriptOf } from '../support/operator-scenario.ts'
import { forge, parts } from '../support/schemes.ts'
import { answersMore, type Served, startLoad, startServed } from '../support/served.ts'
import { call } from '../support/stack.ts'

const external = useExternalPostgres()
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-served-'))
const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-served-tmp-'))
const canaries = { PAYMENTS_SECRET: `canary-${crypto.randomUUID()}`, SEALING_KEY: `canary-${crypto.randomUUID()}` }
let databaseUrl: string
let served: Served

const restart = async (flags: string[] = []) => {
  served = await startServed({
    ...{ project: 'examples/orders', root, databaseUrl },
    flags: ['--workers', '2', ...flags],
    env: { TMPDIR: temporary, ...canaries },
  })
}
beforeAll(async () => {
  databaseUrl = await createOwned(external)
  await restart()
})
afterAll(async () => {
  served?.signal('SIGTERM')
  await served?.finished
  for (const folder of [root, temporary]) fs.rmSync(folder, { recursive: true, force: true })
})

const at = (address: string) => `${served.url}${address}`
const apikey = () => ({ apikey: served.secrets()['SERVICE_ROLE_KEY']! })

async function person() {
  const email = `person-${crypto.randomUUID()}@example.com`
  const credentials = { email, password: 'correct horse battery' }
  const { status } = await call(at('/auth/sign-up'), { json: credentials })
  expect(status).toBe(200)
  const { json } = await call(at('/auth/sign-in/password'), { json: credentials })
  return { id: json.user.id as string, token: json.access_token as string }
}

describe('the example project', () => {
  it('signs up, signs in, and gates its routes', async () => {
    const { token } = await person()
    expect((await call(at('/orders'))).status).toBe(401)
    const placed = await call(at('/orders'), { token, json: { sku: 'tea-sencha', quantity: 2 } })
    expect(placed.status, placed.text).toBe(201)
    const other = await person()
    expect((await call(at(`/orders/${placed.json.id}`), { token })).status).toBe(200)
    expect((await call(at(`/orders/${placed.json.id}`), { token: other.token })).status).toBe(404)
  })

  it('answers management calls with the key that was made', async () => {
    const { id } = await person()
    expect((await call(at(`/v1/management/auth/users/${id}`), { headers: apikey() })).status).toBe(200)
    expect((await call(at(`/v1/management/auth/users/${id}`))).status).toBe(401)
  })

  it('takes a webhook whose secret is in the environment', async () => {
    const body = JSON.stringify({ type: 'payment.succeeded', data: { order: '1' } })
    const send = (secret: string) => {
      const timestamp = String(Math.floor(Date.now() / 1000))
      const claim = { body: Buffer.from(body), secret, timestamp, id: '', url: '' }
      return call(at('/webhooks/payments'), { body, headers: forge(parts('x-payments-signature'), claim) })
    }
    expect((await send(canaries.PAYMENTS_SECRET)).status).toBe(200)
    expect((await send('another')).status).toBe(401)
  })

  it('is administered by the commands of docs/administration.md, with the same output', async () => {
    const { json } = await call(at('/auth/sign-up'), {
      json: { email: `operator-${crypto.randomUUID()}@example.com`, password: 'correct horse battery' },
    })
    const user = json.user.id as string
    const sessions = await call(at(`/v1/management/auth/sessions?user_id=${user}`), { headers: apikey() })
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-operator-'))
    onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }))
    fs.mkdirSync(path.join(folder, 'stack'))
    const environments = { local: { ref: 'abcdefghm', url: served.url } }
    fs.writeFileSync(path.join(folder, 'stack/project.json'), JSON.stringify({ project: 'orders', environments }))
    // no stack runs in this folder, and this one has no sender
    const steps = scenario(user, sessions.json.data[0].id).filter(
      ({ words }) => words[0] !== 'env' && !words.includes('send-test'),
    )
    const env = { STACK_SERVICE_ROLE_KEY: apikey().apikey }
    const ran = await runScenario(steps, { cwd: folder, env }, ['--env', 'local'])
    const page = fs.readFileSync(path.join(packageRoot, 'docs/administration.md'), 'utf8')
    const others = ran.map((step) => transcriptOf([step])).filter((text) => !page.includes(text))
    expect(others).toEqual([])
    expect(ran.length).toBeGreaterThan(28)
  })

  it('is healthy', async () => {
    expect((await call(at('/auth/health'))).json).toEqual({ status: 'ok', database: 'ok', migrations: 'current' })
  })
})

describe('load', () => {
  it('spreads over both processes', async () => {
    const before = await byProcess()
    const load = startLoad({ url: at('/catalogue'), clients: 8, keepsAlive: false })
    await answersMore(load, 600)
    const { lost } = await load.stop()
    const after = await byProcess()
    const [first, second] = ['0', '1'].map((process) => after[process]! - (before[process] ?? 0)) as [number, number]
    expect(lost).toEqual([])
    expect(first / (first + second)).toBeGreaterThan(0.4)
    expect(first / (first + second)).toBeLessThan(0.6)
  })

  it.each([true, false])('a reload loses no request (connections that are kept: %s)', async (keepsAlive) => {
    const load = startLoad({ url: at('/catalogue'), clients: 16, keepsAlive })
    await answersMore(load, 100)
    const before = await served.workerds()
    for (let time = 0; time < 2; time++) await reloaded(() => served.signal('SIGHUP'))
    await answersMore(load, 100)
    const { statuses, lost, refused } = await load.stop()
    expect({ lost, refused, statuses: Object.keys(statuses) }).toEqual({ lost: [], refused: 0, statuses: ['200'] })
    await vi.waitUntil(async () => (await served.workerds()).length === 2)
    expect((await served.workerds()).filter((pid) => before.includes(pid))).toEqual([])
  })

  it('a process that is killed is started again, and the other one serves', async () => {
    const [victim, other] = await served.workerds()
    process.kill(victim!, 'SIGKILL')
    const load = startLoad({ url: at('/catalogue'), clients: 8, keepsAlive: false })
    await answersMore(load, 100)
    const { lost, refused } = await load.stop()
    expect({ lost, refused }).toEqual({ lost: [], refused: 0 })
    await vi.waitUntil(async () => (await served.workerds()).length === 2, { timeout: 20_000 })
    const now = await served.workerds()
    expect(now).toContain(other)
    expect(now).not.toContain(victim)
    expect(Math.max(...(await served.metric('stack_process_restarts_total')).values())).toBe(1)
  })
})

describe('reload', () => {
  const file = () => path.join(root, 'src/extra.controller.ts')
  const module = () => path.join(root, 'src/app.module.ts')

  it('serves the source as it is now', async () => {
    expect((await call(at('/extra'))).status).toBe(404)
    fs.writeFileSync(
      file(),
      `import { Controller, Get } from '@stack/backend'
@Controller('/extra', { auth: false })
export class ExtraController {
  @Get() show() { return { extra: true } }
}
`,
    )
    const text = fs.readFileSync(module(), 'utf8')
    fs.writeFileSync(
      module(),
      `import { ExtraController } from './extra.controller.ts'\n${text.replace('controllers: [', 'controllers: [ExtraController, ')}`,
    )
    await reloaded(() => served.signal('SIGHUP'))
    expect((await call(at('/extra'))).json).toEqual({ extra: true })
  })

  it('a build that fails leaves the old one', async () => {
    const text = fs.readFileSync(file(), 'utf8')
    fs.writeFileSync(file(), text.replace("'/extra'", "'/auth/extra'"))
    await failedReload(() => served.signal('SIGHUP'))
    expect((await call(at('/extra'))).status).toBe(200)
    fs.writeFileSync(file(), `${text}\nthrow new Error('no start')\n`)
    const line = await failedReload(() => served.signal('SIGHUP'))
    expect(line['error']).toContain('no start')
    expect((await call(at('/extra'))).status).toBe(200)
    fs.writeFileSync(file(), text)
    await reloaded(() => served.signal('SIGHUP'))
  })

  it('a migration that fails migrates nothing', async () => {
    const migration = path.join(root, 'migrations/0004_wrong.sql')
    fs.writeFileSync(migration, 'create table half (id int); select nothing from nowhere;')
    await failedReload(() => served.signal('SIGHUP'))
    fs.rmSync(migration)
    expect(await external.sql(`select to_regclass('half') as made`, new URL(databaseUrl).pathname.slice(1))).toEqual([
      { made: null },
    ])
  })
})

describe('scheduled work', () => {
  it('runs on time, once for both processes', async () => {
    const runs = () => served.lines().filter((line) => 'scheduled_at' in line)
    await vi.waitUntil(() => runs().length > 0, { timeout: 90_000, interval: 500 })
    const named = runs().map(({ class: name, method, scheduled_at }) => `${name} ${method} ${scheduled_at}`)
    expect(new Set(named).size).toBe(named.length)
  })

  it('one of thirty machines gets a minute', async () => {
    const config = configOf({ url: databaseUrl })
    const claim = (minute: string) => claimMinute(config, 'backend', '* * * * *', new Date(minute))
    const claims = await Promise.all(Array.from({ length: 30 }, () => claim('2030-01-01T00:00:00Z')))
    expect(claims.filter(Boolean)).toHaveLength(1)
    expect(await claim('2029-12-31T23:59:00Z')).toBe(false)
    expect(await claim('2030-01-01T00:01:00Z')).toBe(true)
  })
})

describe('the client of a request', () => {
  it('cannot choose its address', async () => {
    const email = `person-${crypto.randomUUID()}@example.com`
    const headers = { 'x-forwarded-for': '192.0.2.7', 'cf-connecting-ip': '192.0.2.7' }
    await call(at('/auth/sign-up'), { json: { email, password: 'correct horse battery' }, headers })
    const seen = await external.sql<{ ip: string }>(
      'select distinct ip from stack.audit',
      new URL(databaseUrl).pathname.slice(1),
    )
    expect(seen).toEqual([{ ip: '127.0.0.1' }])
  })
})

describe('secrets', () => {
  it('stand in no log, no command line, and no file but the state', async () => {
    const secrets = [...Object.values(served.secrets()), ...Object.values(canaries), 'owner-secret'].filter(
      (one) => one.length > 9,
    )
    const places: [string, string][] = [['the log', served.output()]]
    for (const name of fs.readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
      try {
        places.push([`the command line of ${name}`, fs.readFileSync(`/proc/${name}/cmdline`, 'utf8')])
      } catch {} // it has ended
    }
    for (const folder of [temporary, path.join(root, '.stack')]) {
      for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
        if (entry.isFile())
          places.push([entry.name, fs.readFileSync(path.join(entry.parentPath, entry.name), 'latin1')])
      }
    }
    const found = places.filter(([, text]) => secrets.some((secret) => text.includes(secret))).map(([place]) => place)
    expect(found).toEqual(['secrets.json'])
    expect(fs.statSync(path.join(root, '.stack/serve/secrets.json')).mode & 0o777).toBe(0o600)
  })
})

describe('the end', () => {
  it.each([true, false])('SIGTERM finishes every request (connections that are kept: %s)', async (keepsAlive) => {
    const load = startLoad({ url: at('/catalogue'), clients: 16, keepsAlive })
    await answersMore(load, 100)
    load.ends()
    served.signal('SIGTERM')
    const { code, stderr } = await served.finished
    const { statuses, lost } = await load.stop()
    expect(lost).toEqual([])
    // 503 tells a client that came too late that its request was not performed
    expect(Object.keys(statuses).filter((status) => status !== '503')).toEqual(['200'])
    expect(code, stderr).toBe(0)
    expect(fs.readdirSync(temporary)).toEqual([])
    await restart()
  })

  it('a parent that is killed leaves no process behind', async () => {
    const workerds = await served.workerds()
    expect(workerds).toHaveLength(2)
    served.signal('SIGKILL')
    await vi.waitUntil(() => !workerds.some(isAlive), { timeout: 20_000 })
    await restart()
    expect((await call(at('/catalogue'))).status).toBe(200)
  })
})

/** Number of requests by process. */
async function byProcess(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const [labels, value] of await served.metric('stack_http_requests_total')) {
    const [, process = ''] = /process="(\d+)"/.exec(labels) ?? []
    counts[process] = (counts[process] ?? 0) + value
  }
  return counts
}

const reloadLines = (pattern: RegExp) => served.lines().filter(({ message }) => pattern.test(String(message)))

async function reloaded(ask: () => void): Promise<void> {
  await settled(ask)
  expect(reloadLines(/reload/).at(-1)).toMatchObject({ message: 'reloaded' })
}

async function failedReload(ask: () => void): Promise<Record<string, unknown>> {
  await settled(ask)
  const line = reloadLines(/reload/).at(-1)!
  expect(line['message']).toContain('the reload failed')
  return line
}

async function settled(ask: () => void): Promise<void> {
  const before = reloadLines(/reload/).length
  ask()
  await vi.waitUntil(() => reloadLines(/reload/).length > before, { timeout: 60_000 })
}
