/** 7.7 `stack webhooks replay --force` and an interrupt: the id of the delivery is back, whenever the interrupt comes. */
import * as fs from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrate, setsOf } from '../../local/migrate.ts'
import { type Postgres, startPostgres } from '../../local/postgres.ts'
import { packageRoot, type Running, stack, start } from '../support/command.ts'
import { copyProject } from '../support/project.ts'

const id = 'dlv_01KAKP7T4Z8Q6N3V5XWY2RSTUV'
const seen = { webhook: 'payments', id: 'id:evt_1' }
const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-replay-'))
let postgres: Postgres
let owner: pg.Client

/** Stands in for a running stack: it answers as one, except that no delivery is answered before the test says so. */
const arrived: { respond(status: number): void }[] = []
let onArrival = () => {}
const server = http.createServer((request, response) => {
  response.setHeader('x-request-id', 'req_1')
  if (request.method === 'GET') return void response.end('{"data":[]}')
  arrived.push({ respond: (status) => response.writeHead(status).end('{"ok":true}') })
  onArrival()
})

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  postgres = await startPostgres({ directory, password: 'password' })
  const url = databaseUrl()
  await migrate(url, setsOf(directory))
  owner = new pg.Client(url)
  await owner.connect()
  await owner.query(
    `insert into webhooks.deliveries
       (id, webhook, request_id, received_at, search, headers, body, event, outcome, status, duration_ms)
     values ($1, 'payments', 'req_0', now(), '', '{"content-type":"application/json"}', $2, 'payment.succeeded', 'handled', 200, 1)`,
    [id, Buffer.from('{"id":"evt_1","type":"payment.succeeded"}')],
  )
}, 60_000)

afterAll(async () => {
  await owner?.end()
  await postgres?.stop()
  server.closeAllConnections()
  server.close()
  fs.rmSync(directory, { recursive: true, force: true })
})

const databaseUrl = () => `postgresql://postgres:password@127.0.0.1:${postgres.port}/postgres`

/** A project, built by the first test, whose record names the server above as its running stack. */
async function project(): Promise<string> {
  const root = path.join(directory, 'hooks')
  if (fs.existsSync(root)) return root
  copyProject(path.join(packageRoot, 'test/edge/hooks'), root)
  const receivers = path.join(root, 'src/receivers.webhook.ts')
  const source = fs.readFileSync(receivers, 'utf8')
  fs.writeFileSync(receivers, source.replaceAll("_SECRET' } })", "_SECRET' }, record: true, dedupe: true })"))
  fs.writeFileSync(path.join(root, '.dev.vars'), 'PAYMENTS_SECRET=secret\n')
  expect((await stack(['build', '--project', root])).code).toBe(0)
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const record = { pid: process.pid, base_url, service_role_key: 'key', database_url: databaseUrl() }
  fs.writeFileSync(path.join(root, '.stack/local.json'), JSON.stringify(record))
  return root
}

/** Replays by force, and waits until the delivery has arrived: its id is removed then. */
async function replay(root: string): Promise<Running> {
  await owner.query('delete from webhooks.seen')
  await owner.query(`insert into webhooks.seen (webhook, id, seen_at) values ($1, $2, '2026-01-01T00:00:00Z')`, [
    seen.webhook,
    seen.id,
  ])
  const arrival = new Promise<void>((resolve) => {
    onArrival = resolve
  })
  const running = start(['webhooks', 'replay', id, '--force', '--project', root])
  await Promise.race([
    arrival,
    running.finished.then(({ stderr }) => Promise.reject(new Error(`nothing was sent: ${stderr}`))),
  ])
  expect(await known()).toEqual([])
  return running
}

const known = async () =>
  (await owner.query(`select id, seen_at = '2026-01-01T00:00:00Z' as is_old from webhooks.seen`)).rows

describe('an interrupt while the delivery is on its way', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s: exit 130, and the id is back with its time',
    async (signal) => {
      const running = await replay(await project())
      running.child.kill(signal)
      const { code, stdout, stderr } = await running.finished
      expect([code, stdout]).toEqual([130, ''])
      expect(stderr).toContain(`put ${seen.id} back: the delivery was not handled this time`)
      expect(stderr).toMatch(/error: interrupted before the stack answered\n$/)
      expect(await known()).toEqual([{ id: seen.id, is_old: true }])
    },
  )

  it('where the stack noted the id anew before, that note stays', async () => {
    const running = await replay(await project())
    await owner.query('insert into webhooks.seen (webhook, id) values ($1, $2)', [seen.webhook, seen.id])
    running.child.kill('SIGINT')
    const { code, stderr } = await running.finished
    expect(code).toBe(130)
    expect(stderr).not.toContain(`put ${seen.id} back`)
    expect(await known()).toEqual([{ id: seen.id, is_old: false }])
  })

  it('without one, --json prints the answer with its status and request id', async () => {
    const root = await project()
    await owner.query('delete from webhooks.seen')
    const running = start(['webhooks', 'replay', id, '--force', '--json', '--project', root])
    await new Promise<void>((resolve) => {
      onArrival = resolve
    })
    arrived.at(-1)!.respond(200)
    const { code, stdout } = await running.finished
    expect(code).toBe(0)
    const duration_ms = expect.any(Number)
    expect(JSON.parse(stdout)).toEqual({ status: 200, request_id: 'req_1', duration_ms, body: { ok: true } })
    expect(stdout).toBe(`${JSON.stringify(JSON.parse(stdout), undefined, 2)}\n`)
  })
})
