/** Two machines that serve one database (contract 9.15, 10.5), the limits of two processes (2.7), and keys that change between two starts. */
import * as fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { findPort } from '../../local/ports.ts'
import { packageRoot, stack } from '../support/command.ts'
import { createOwned, useExternalPostgres } from '../support/external-postgres.ts'
import { copyProject } from '../support/project.ts'
import { type Served, startServed } from '../support/served.ts'
import { call } from '../support/stack.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const external = useExternalPostgres()
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-machines-'))
const roots = { first: path.join(folder, 'first'), second: path.join(folder, 'second') }
const stackUrl = 'http://10.0.0.7'
const limit = 5
let databaseUrl: string
let first: Served

const start = (machine: keyof typeof roots, env: Record<string, string> = {}, workers = 1) =>
  startServed({
    ...{ project: 'examples/orders', root: roots[machine], databaseUrl },
    flags: ['--workers', String(workers)],
    env: { STACK_URL: stackUrl, ...env },
  })

async function end(served: Served): Promise<void> {
  served.signal('SIGTERM')
  await served.finished
}

/** Starts a machine that refuses to serve. */
const refused = async (machine: keyof typeof roots, env: Record<string, string>) => {
  const words = ['serve', '--project', roots[machine], '--port', String(await findPort()), '--no-metrics']
  return stack(words, { env: { DATABASE_URL: databaseUrl, STACK_URL: stackUrl, ...env } })
}

beforeAll(async () => {
  databaseUrl = await createOwned(external)
  for (const root of Object.values(roots)) {
    copyProject(path.join(packageRoot, 'examples/orders'), root)
    fs.writeFileSync(
      path.join(root, 'src/limited.controller.ts'),
      `import { Controller, Get } from '@stack/backend'
@Controller('/limited', { auth: false, limit: { requests: ${limit}, seconds: 60, by: 'ip' } })
export class LimitedController {
  @Get() show() { return { admitted: true } }
}
`,
    )
    const module = path.join(root, 'src/app.module.ts')
    const text = fs.readFileSync(module, 'utf8').replace('controllers: [', 'controllers: [LimitedController, ')
    fs.writeFileSync(module, `import { LimitedController } from './limited.controller.ts'\n${text}`)
  }
  first = await start('first', {}, 2)
})
afterAll(async () => {
  if (first) await end(first)
  fs.rmSync(folder, { recursive: true, force: true })
})

const person = () => ({ email: `person-${crypto.randomUUID()}@example.com`, password: 'correct horse battery' })
const management = (served: Served, apikey: string) =>
  call(`${served.url}/v1/management/auth/settings`, { headers: { apikey } })

describe('2.7 a limit under two processes', () => {
  /** Waits until a window has just begun if it would end during the test. */
  async function withinOneWindow(): Promise<void> {
    const left = 60_000 - (Date.now() % 60_000)
    if (left < 30_000) await new Promise((resolve) => setTimeout(resolve, left))
  }

  /** @returns the statuses of requests, on one connection or on one each. */
  async function statusesOf(count: number, isOneConnection: boolean, headers: Record<string, string> = {}) {
    const agent = isOneConnection ? new http.Agent({ keepAlive: true, maxSockets: 1 }) : undefined
    const statuses: number[] = []
    for (let request = 0; request < count; request++) {
      const options = { agent: agent ?? false, headers }
      statuses.push(
        await new Promise<number>((resolve, reject) => {
          const sent = http.get(`${first.url}/limited`, options, (response) => {
            if (response.statusCode === 429) expect(response.headers['retry-after']).toBe('60')
            response.resume().once('end', () => resolve(response.statusCode!))
          })
          sent.once('error', reject)
        }),
      )
    }
    agent?.destroy()
    return statuses
  }
  const admitted = (statuses: number[]) => statuses.filter((status) => status === 200).length

  it('counts in each process for itself, as the start says, and is forgotten at a reload', async () => {
    expect(first.output()).toContain(
      '@Controller limits count in each process for itself, and are forgotten at a reload',
    )
    await withinOneWindow()
    const one = await statusesOf(limit + 3, true)
    expect(one).toEqual([...Array(limit).fill(200), 429, 429, 429])
    const both = await statusesOf(60, false)
    expect([...new Set(both)].sort()).toEqual([200, 429])
    expect(admitted(one) + admitted(both)).toBe(2 * limit)
    // a client cannot give itself another address
    expect(admitted(await statusesOf(5, true, { 'x-forwarded-for': '192.0.2.7' }))).toBe(0)
    first.signal('SIGHUP')
    await vi.waitUntil(() => first.lines().some(({ message }) => message === 'reloaded'), { timeout: 120_000 })
    expect(admitted(await statusesOf(1, true))).toBe(1)
  })
})

describe('the build of a served stack', () => {
  it('is read by stack cron, and is not that of the local stack, which has debug devices', async () => {
    const { code, stdout } = await stack(['cron', 'list', '--json'], { cwd: roots.first })
    const [scheduled] = JSON.parse(stdout).data
    expect([code, scheduled.worker]).toEqual([0, 'auth'])
    expect(fs.readdirSync(path.join(roots.first, '.stack'))).toEqual(expect.arrayContaining(['auth', 'table.json']))
    expect(fs.existsSync(path.join(roots.first, '.stack/auth-local'))).toBe(false)
    const run = await stack(['cron', 'run', scheduled.name], { cwd: roots.first })
    expect([run.code, run.stdout, run.stderr]).toEqual([3, '', expect.stringContaining('`stack start` runs one')])
  })
})

describe('the metrics of connections', () => {
  /** Sums a metric over the processes. */
  async function sumOf(name: string, labels: string): Promise<number> {
    const found = [...(await first.metric(name))].filter(([text]) => text.includes(labels))
    return found.reduce((sum, [, value]) => sum + value, 0)
  }
  const backend = 'worker="backend",binding="DATABASE_URL"'

  it('count those in use, those that wait for one, and none after', async () => {
    const holder = new pg.Client(databaseUrl)
    await holder.connect()
    await holder.query('begin; lock table releases in access exclusive mode')
    const requests = Array.from({ length: 80 }, () => call(`${first.url}/catalogue`))
    try {
      await vi.waitUntil(async () => (await sumOf('stack_database_requests_waiting', backend)) > 0, { timeout: 60_000 })
      const used = await sumOf('stack_database_connections', `${backend},state="used"`)
      const most = await sumOf('stack_database_connections_max', backend)
      expect([used > 0, used <= most]).toEqual([true, true])
    } finally {
      await holder.query('rollback')
      await holder.end()
    }
    await Promise.all(requests)
    await vi.waitUntil(
      async () =>
        (await sumOf('stack_database_requests_waiting', backend)) === 0 &&
        (await sumOf('stack_database_connections', `${backend},state="used"`)) === 0 &&
        (await sumOf('stack_database_connections', `${backend},state="unused"`)) > 0,
      { timeout: 60_000 },
    )
    expect((await call(`${first.url}/catalogue`)).status).toBe(200)
  })
})

describe('a second machine', () => {
  const secretsOf = (names: readonly string[]) =>
    Object.fromEntries(Object.entries(first.secrets()).filter(([name]) => names.includes(name)))
  const sealed = ['SEALING_KEY', 'PASSWORD_PEPPER', 'REFRESH_KEY', 'AUTH_AUDIENCE']

  it('with secrets of its own is refused by their names, and makes none', async () => {
    const { code, stdout, stderr } = await refused('second', {})
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(
      'error: AUTH_AUDIENCE and PASSWORD_PEPPER and REFRESH_KEY and SEALING_KEY: this database was',
    )
    expect(stderr).toContain('--take-over')
    expect(fs.existsSync(path.join(roots.second, '.stack/serve/secrets.json'))).toBe(false)
  })

  it('with another audience is refused: its tokens would count on one machine alone', async () => {
    const { AUTH_AUDIENCE: _own, ...others } = first.secrets()
    const { code, stderr } = await refused('second', others)
    expect([code, stderr]).toEqual([2, expect.stringContaining('error: AUTH_AUDIENCE: this database was served with')])
  })

  it('with other keys of the logins and the claims is refused by their names', async () => {
    const { code, stdout, stderr } = await refused('second', secretsOf(sealed))
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('another machine serves this stack')
    expect(stderr).toContain('Give this machine its DATABASE_LOGIN_KEY and CLAIMS_KEY, or pass --take-over')
    expect((await call(`${first.url}/auth/health`)).json.status).toBe('ok')
  })

  it('with the same secrets serves the same users, sessions and management calls', async () => {
    const secrets = first.secrets()
    const second = await start('second', secrets)
    try {
      const given = person()
      expect((await call(`${first.url}/auth/sign-up`, { json: given })).status).toBe(200)
      const { json } = await call(`${second.url}/auth/sign-in/password`, { json: given })
      for (const machine of [first, second]) {
        expect((await call(`${machine.url}/orders`, { token: json.access_token })).status).toBe(200)
        expect((await management(machine, secrets['SERVICE_ROLE_KEY']!)).status).toBe(200)
        expect((await management(machine, 'srk_another')).status).toBe(401)
      }
      const refresh = { json: { refresh_token: json.refresh_token } }
      const refreshed = await call(`${first.url}/auth/token/refresh`, refresh)
      expect([refreshed.status, typeof refreshed.json.access_token], refreshed.text).toEqual([200, 'string'])
      expect((await call(`${second.url}/orders`, { token: refreshed.json.access_token })).status).toBe(200)
      // what was given by the environment is not written
      expect(fs.existsSync(path.join(roots.second, '.stack/serve/secrets.json'))).toBe(false)
    } finally {
      await end(second)
    }
  })
})

describe('a key that was rotated before a restart', () => {
  const rotate = (served: Served, kind: string, json: object) =>
    call(`${served.url}/v1/management/auth/keys/${kind}/rotate`, {
      method: 'POST',
      json,
      headers: { apikey: served.secrets()['SERVICE_ROLE_KEY']! },
    })

  it('the service-role key: the file goes on with the new one, and a variable may keep the old one', async () => {
    const before = first.secrets()
    const { json, status, text } = await rotate(first, 'service-role', { overlap_seconds: 0 })
    expect([status, json.key], text).toEqual([200, expect.stringMatching(/^srk_/)])
    await end(first)
    first = await start('first')
    expect(first.secrets()).toEqual({ ...before, SERVICE_ROLE_KEY: json.key })
    const second = await start('second', before)
    try {
      for (const machine of [first, second]) {
        expect((await management(machine, json.key)).status).toBe(200)
        expect((await management(machine, before['SERVICE_ROLE_KEY']!)).status).toBe(401)
      }
    } finally {
      await end(second)
    }
  })

  it('the sealing key: with both keys at first, and in the end with the new one alone', async () => {
    const apikey = first.secrets()['SERVICE_ROLE_KEY']!
    const entry = { method: 'PUT', json: { value: 'kept' }, headers: { apikey } }
    expect((await call(`${first.url}/admin/vault/backend/KEPT`, entry)).status).toBe(204)
    await end(first)
    const old = first.secrets()['SEALING_KEY']!
    const SEALING_KEY = 'a new sealing key of forty characters ..'
    const other = await refused('first', { SEALING_KEY })
    expect([other.code, other.stderr]).toEqual([
      2,
      expect.stringContaining('SEALING_KEY of the environment is not the'),
    ])
    first = await start('first', { SEALING_KEY, SEALING_KEY_PREVIOUS: old })
    const { json, text } = await rotate(first, 'sealing', {})
    expect(json, text).toMatchObject({ remaining: 0, unreadable: [] })
    await end(first)
    // the file still holds the old key, and the refusal names the file
    const file = path.join(roots.first, '.stack/serve/secrets.json')
    const stale = await refused('first', { SEALING_KEY })
    expect([stale.code, stale.stderr]).toEqual([2, expect.stringContaining('remove its line from the file')])
    const { SEALING_KEY: _old, ...others } = JSON.parse(fs.readFileSync(file, 'utf8'))
    fs.writeFileSync(file, JSON.stringify(others))
    // the old one is refused from now on
    const late = await refused('first', { SEALING_KEY: old })
    expect([late.code, late.stderr]).toEqual([
      2,
      expect.stringContaining('error: SEALING_KEY: this database was served'),
    ])
    first = await start('first', { SEALING_KEY })
    const again = await call(`${first.url}/v1/management/auth/keys/sealing/rotate`, {
      method: 'POST',
      json: {},
      headers: { apikey },
    })
    expect(again.json, again.text).toMatchObject({ sealed: 0, remaining: 0, unreadable: [] })
  })
})
