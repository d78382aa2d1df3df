/**
 * Copies of a delivery, handlers that fail, floods of forged deliveries, and bodies in flight, in workerd with Postgres
 * (contract 7.7, 7.8).
 */
import { createHmac } from 'node:crypto'
import * as fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { useStack } from '../../support/stack.ts'

const handlers = `
  @On('slow')
  async slow({ id, milliseconds }: Sent) {
    Log.info('slow began', { delivery: id })
    await note(id)
    await new Promise((resolve) => setTimeout(resolve, milliseconds))
  }

  @On('answers')
  async answers({ id, status }: Sent) {
    await note(id)
    return new Response(status === 204 ? null : 'as it is', { status, headers: { 'x-own': 'kept' } })
  }

  @On('returns')
  async returns({ id, fails }: Sent) {
    await note(id)
    return fails ? new HttpError(404, 'no_order', 'there is no such order') : undefined
  }

  @On('throws')
  async throws({ id, fails }: Sent) {
    await note(id)
    if (fails) throw new Error('it failed')
  }

  @On('commit')
  async commit({ id, fails }: Sent) {
    await note(id)
    if (fails) await Database.$asService().sql\`insert into late (id, parent) values (1, 2)\`
  }

  @On('swallowed')
  async swallowed({ id, fails }: Sent) {
    await note(id)
    if (fails) await Database.$asService().sql\`select 1 / 0\`.catch(() => {})
  }

  @On('cut')
  async cut({ id, fails }: Sent) {
    await note(id)
    if (fails) await Database.$asService().sql\`select pg_sleep(8)\`
  }
`
const source = `import { Controller, Database, Get, HttpError, Log, Module, On, Webhook } from '@stack/backend'

interface Sent { id: string; milliseconds: number; status: number; fails?: true }

async function note(id: string) {
  await Database.$asService().sql\`insert into received (id) values (\${id})\`
}

@Webhook({ name: 'once', provider: 'payments', secret: { env: 'SECRET' }, dedupe: true, record: true })
export class OnceReceiver {${handlers}}

@Webhook({ name: 'plain', provider: 'payments', secret: { env: 'SECRET' } })
export class PlainReceiver {${handlers}}

@Controller('/count', { auth: false })
export class CountController {
  @Get()
  async count() {
    return Database.$asService().sql\`select count(*) from received\`
  }
}

@Module({ controllers: [CountController], providers: [OnceReceiver, PlainReceiver] })
export class AppModule {}
`
const tables = `create table public.received (id text not null);
create table public.late (id integer primary key, parent integer references public.late deferrable initially deferred);
grant select, insert on public.received, public.late to backend_service_role;
alter table public.received enable row level security;
alter table public.late enable row level security;
`

const secret = 'the secret'
const project = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-once-'))
for (const [name, contents] of [
  ['stack/project.json', '{ "project": "once" }\n'],
  ['src/app.module.ts', source],
  ['migrations/0001_tables.sql', tables],
] as const) {
  fs.mkdirSync(path.dirname(path.join(project, name)), { recursive: true })
  fs.writeFileSync(path.join(project, name), contents)
}
afterAll(() => fs.rmSync(project, { recursive: true, force: true }))
const hooks = useStack(project, { SECRET: secret })

const handled = '{"ok":true,"handled":true}'
const seconds = () => Math.floor(Date.now() / 1000)
const signatureOf = (body: string, at: number, key = secret) =>
  `t=${at},v1=${createHmac('sha256', key).update(`${at}.${body}`).digest('hex')}`

function send(name: 'once' | 'plain', payload: object, { at = seconds(), key = secret } = {}) {
  const body = JSON.stringify(payload)
  return hooks.call(`/webhooks/${name}`, { body, headers: { 'x-payments-signature': signatureOf(body, at, key) } })
}

const received = async (id: string) => (await hooks.sql('select from received where id = $1', [id])).length
const seen = async (id: string) => (await hooks.sql('select from webhooks.seen where id = $1', [`id:${id}`])).length

const recordOf = (request: string | null) =>
  vi.waitUntil(
    async () =>
      (
        await hooks.sql<{ body: Buffer | null; outcome: string; reason: string; status: number }>(
          'select * from webhooks.deliveries where request_id = $1',
          [request],
        )
      )[0],
    { timeout: 10_000 },
  )

/** Opens a connection that holds a lock, so that the connections of the worker wait. */
async function locking(statement: string): Promise<pg.Client> {
  const client = new pg.Client(hooks.stack.record.database_url)
  await client.connect()
  onTestFinished(() => client.end())
  await client.query(`begin; ${statement}`)
  return client
}

/** Sends the head of a delivery and a part of its body. */
function begin(name: string, head: Record<string, string | number>, body: Uint8Array | string = ''): net.Socket {
  const { hostname, port } = new URL(hooks.url)
  const socket = net.connect({ host: hostname, port: Number(port), noDelay: true })
  socket.on('error', () => {})
  const headers = {
    host: 'hooks',
    connection: 'close',
    'x-payments-signature': `t=${seconds()},v1=${'ab'.repeat(32)}`,
    ...head,
  }
  const lines = Object.entries(headers).map(([key, value]) => `${key}: ${value}`)
  socket.write(`POST /webhooks/${name} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
  socket.write(body)
  onTestFinished(() => void socket.destroy())
  return socket
}

/** Bytes in one MiB. */
const mebibyte = 1024 * 1024

describe('7.7 copies', () => {
  it('of a slow delivery hold no connection while they wait, give up after a second, and are answered once it is done', async () => {
    const payload = { id: 'evt_slow', type: 'slow', milliseconds: 5_000 }
    const first = send('once', payload)
    await hooks.logged(({ delivery }) => delivery === 'evt_slow')
    const copies = Promise.all(Array.from({ length: 25 }, () => send('once', payload)))
    let isOver = false
    const others = (async () => {
      const answers: number[] = []
      while (!isOver) answers.push((await hooks.call('/count')).status)
      return answers
    })()
    const answers = await copies
    isOver = true
    expect(new Set(answers.map(({ status, json }) => `${status} ${json.error}`))).toEqual(new Set(['503 unavailable']))
    expect(new Set(answers.map(({ headers }) => headers.get('retry-after')))).toEqual(new Set(['1']))
    expect(new Set(await others)).toEqual(new Set([200]))
    expect((await first).text).toBe(handled)
    expect((await send('once', payload)).text).toBe(handled)
    expect([await received('evt_slow'), await seen('evt_slow')]).toEqual([1, 1])
  })

  it('of one that is done within a second are all answered as handled', async () => {
    const payload = { id: 'evt_quick', type: 'slow', milliseconds: 300 }
    const answers = await Promise.all(Array.from({ length: 25 }, () => send('once', payload)))
    expect(new Set(answers.map(({ status, text: said }) => `${status} ${said}`))).toEqual(new Set([`200 ${handled}`]))
    expect(await received('evt_quick')).toBe(1)
  })

  it('of one that fails meanwhile: one of them is handled', async () => {
    const first = send('once', { id: 'evt_fails', type: 'cut', fails: true })
    await vi.waitUntil(async () => (await sleeping()).length > 0, { timeout: 5_000 })
    const copies = Array.from({ length: 5 }, () => send('once', { id: 'evt_fails', type: 'cut' }))
    await hooks.sql('select pg_terminate_backend(pid) from pg_stat_activity where query like $1', ['%pg_sleep(8)%'])
    expect((await first).status).toBe(500)
    const answers = await Promise.all(copies)
    expect(new Set(answers.map(({ text: said }) => said))).toEqual(new Set([handled]))
    expect(await received('evt_fails')).toBe(1)
  })
})

const sleeping = () =>
  hooks.sql(`select pid from pg_stat_activity where state = 'active' and query like 'select pg_sleep(8)%'`)

describe.each(['once', 'plain'] as const)('7.7 a handler of "%s" that fails keeps nothing', (name) => {
  const retry = async (id: string, type: string) => {
    expect([await received(id), await seen(id)]).toEqual([0, 0])
    expect((await send(name, { id, type, status: 204 })).status).toBe(type === 'answers' ? 204 : 200)
    expect([await received(id), await seen(id)]).toEqual([1, name === 'once' ? 1 : 0])
  }

  it.each(['throws', 'commit', 'swallowed'])('%s: 500 handler_failed, and the retry is handled', async (type) => {
    const id = `evt_${name}_${type}`
    const answer = await send(name, { id, type, fails: true })
    expect([answer.status, answer.json.error]).toEqual([500, 'handler_failed'])
    await retry(id, type)
  })

  it('whose connection is cut: 500 handler_failed, and the retry is handled', async () => {
    const id = `evt_${name}_cut`
    const answer = send(name, { id, type: 'cut', fails: true })
    const [connection] = await vi.waitUntil(
      async () => {
        const found = await sleeping()
        return found.length > 0 && found
      },
      { timeout: 5_000 },
    )
    await hooks.sql('select pg_terminate_backend($1)', [connection!['pid']])
    expect((await answer).json).toMatchObject({ status: 500, error: 'handler_failed' })
    await retry(id, 'cut')
  })

  it.each([500, 503, 404, 400, 302, 303])(
    'a Response of %i is sent as it is, and the retry is handled',
    async (status) => {
      const id = `evt_${name}_${status}`
      const answer = await send(name, { id, type: 'answers', status })
      expect([answer.status, answer.text, answer.headers.get('x-own')]).toEqual([status, 'as it is', 'kept'])
      expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
      await retry(id, 'answers')
    },
  )

  it('an HttpError that it returns is answered with its status, and the retry is handled', async () => {
    const id = `evt_${name}_returns`
    const answer = await send(name, { id, type: 'returns', fails: true })
    expect(answer.json).toMatchObject({ status: 404, error: 'no_order' })
    await retry(id, 'returns')
  })

  it.each([200, 202, 299])('a Response of %i keeps what was written', async (status) => {
    const id = `evt_${name}_${status}`
    expect((await send(name, { id, type: 'answers', status })).status).toBe(status)
    expect([await received(id), await seen(id)]).toEqual([1, name === 'once' ? 1 : 0])
  })
})

it('7.8 a delivery whose handler answered outside 2xx is recorded as failed, with its body', async () => {
  const answer = await send('once', { id: 'evt_recorded', type: 'answers', status: 404 })
  const row = await recordOf(answer.headers.get('x-request-id'))
  expect(row).toMatchObject({
    outcome: 'failed',
    reason: 'the handler answered 404',
    status: 404,
    body: expect.any(Buffer),
  })
})

describe('7.8 refused deliveries', () => {
  it.each<[string, () => ReturnType<typeof send>, string, boolean]>([
    ['forged', () => send('once', { type: 'slow' }, { key: 'another' }), 'bad_signature', false],
    ['stale and genuine', () => send('once', { type: 'slow' }, { at: seconds() - 400 }), 'stale_timestamp', true],
    ['ahead and genuine', () => send('once', { type: 'slow' }, { at: seconds() + 400 }), 'future_timestamp', true],
    [
      'stale and forged',
      () => send('once', { type: 'slow' }, { at: seconds() - 400, key: 'x' }),
      'stale_timestamp',
      false,
    ],
  ])('%s: the body is kept only if the signature was right', async (_what, deliver, reason, isKept) => {
    const answer = await deliver()
    expect(answer.json).toMatchObject({ status: 401, error_description: 'webhook signature rejected' })
    const row = await recordOf(answer.headers.get('x-request-id'))
    expect(row).toMatchObject({ outcome: 'refused', reason })
    expect(row!.body?.toString()).toBe(isKept ? '{"type":"slow"}' : undefined)
    expect(await hooks.logged((line) => line['reason'] === reason)).toMatchObject({
      message: expect.stringMatching(/^webhook once refused a delivery: \w+: .+\. [A-Z].+\.$/),
    })
  })

  it('the last thousand of a webhook are kept, and all of the others', async () => {
    await hooks.sql(`insert into webhooks.deliveries
      (id, webhook, request_id, received_at, search, headers, outcome, status, duration_ms)
      select 'old_' || n, case when n <= 1010 then 'once' else 'another' end, 'req_old', now() - make_interval(secs => n), '', '{}',
        case when n <= 1005 then 'refused' else 'handled' end, 401, 0 from generate_series(1, 1020) n`)
    await hooks.sql(`update webhooks.deliveries set outcome = 'refused' where webhook = 'another'`)
    const answer = await send('once', { type: 'slow' }, { key: 'another' })
    await recordOf(answer.headers.get('x-request-id'))
    const counts = await hooks.sql<{ webhook: string; outcome: string; count: string }>(
      `select webhook, outcome, count(*) from webhooks.deliveries
        where outcome = 'refused' or request_id = 'req_old' group by 1, 2 order by 1, 2`,
    )
    expect(counts).toEqual([
      { webhook: 'another', outcome: 'refused', count: '10' },
      { webhook: 'once', outcome: 'handled', count: '5' },
      { webhook: 'once', outcome: 'refused', count: '1000' },
    ])
    const gone = await hooks.sql<{ id: string }>(`select id from webhooks.deliveries where id in ('old_1', 'old_1005')`)
    expect(gone).toEqual([{ id: 'old_1' }])
    await hooks.sql(`delete from webhooks.deliveries where request_id = 'req_old'`)
  })

  it('a flood of forged ones takes one connection of the database, and says what it did not record', async () => {
    const other = await locking('lock table webhooks.deliveries')
    const answers = await Promise.all(
      Array.from({ length: 300 }, () => send('once', { type: 'slow' }, { key: 'another' })),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]))
    const waiting = await hooks.sql(
      `select from pg_locks where not granted and relation = 'webhooks.deliveries'::regclass`,
    )
    expect(waiting.length).toBe(1)
    expect((await hooks.call('/count')).status).toBe(200)
    expect((await send('plain', { id: 'evt_beside', type: 'throws' })).text).toBe(handled)
    await other.query('commit')
    const line = await vi.waitUntil(() => hooks.log.find(({ dropped }) => dropped !== undefined), { timeout: 20_000 })
    expect(line['message']).toBe(
      `webhook once: ${line['dropped']} deliveries were not recorded, because too many waited to be`,
    )
    expect(line['dropped']).toBeGreaterThanOrEqual(90)
  })
})

describe('7.8 bodies in flight', () => {
  it('of deliveries that are being handled share 64 MiB: another gets 503 with retry-after until one has ended', async () => {
    const first = send('plain', {
      id: 'evt_holding',
      type: 'slow',
      milliseconds: 4_000,
      text: 'x'.repeat(60 * mebibyte),
    } as object)
    await hooks.logged(({ delivery }) => delivery === 'evt_holding')
    const another = () => send('plain', { id: 'evt_another', type: 'throws', text: 'x'.repeat(5 * mebibyte) })
    const refused = await another()
    expect([refused.status, refused.json.error, refused.headers.get('retry-after')]).toEqual([503, 'unavailable', '1'])
    // A body that still fits is accepted.
    expect((await send('plain', { id: 'evt_fits', type: 'throws' })).text).toBe(handled)
    expect((await first).text).toBe(handled)
    expect((await another()).text).toBe(handled)
  })

  it.each([
    ['stalls', 0],
    ['goes on arriving', 65_536],
  ])('nobody waits for an upload that takes what there is: one that %s gives way', async (_what, bytes) => {
    const first = begin('plain', { 'transfer-encoding': 'chunked' }, '')
    const chunk = (length: number) =>
      Buffer.concat([Buffer.from(`${length.toString(16)}\r\n`), Buffer.alloc(length), Buffer.from('\r\n')])
    await new Promise((resolve) => first.write(chunk(63 * mebibyte), resolve))
    const arriving = setInterval(() => bytes > 0 && first.writable && first.write(chunk(bytes)), 250)
    onTestFinished(() => clearInterval(arriving))
    await new Promise((resolve) => setTimeout(resolve, 1_000)) // Bytes that the operating system still holds arrive.
    const whole = { id: `evt_${bytes}`, type: 'throws', text: 'x'.repeat(2 * mebibyte) }
    expect((await send('plain', whole)).text).toBe(handled)
    expect(await text(first)).toMatch(/^HTTP\/1\.1 503 /)
  })

  it('a client that has gone holds nothing', async () => {
    const first = begin('plain', { 'content-length': 64 * mebibyte }, new Uint8Array(60 * mebibyte))
    await new Promise((resolve) => setTimeout(resolve, 500))
    first.destroy()
    const whole = new Uint8Array(5 * mebibyte)
    const second = () => text(begin('plain', { 'content-length': whole.length }, whole)).catch(() => '')
    await vi.waitUntil(async () => (await second()).startsWith('HTTP/1.1 401'), { timeout: 20_000, interval: 500 })
  })

  it('one alone may be longer than that', async () => {
    const body = JSON.stringify({ id: 'evt_large', type: 'throws', text: 'x'.repeat(70 * mebibyte) })
    // The bodies of clients that have gone count for a moment longer.
    await vi.waitUntil(
      async () => {
        const headers = { 'x-payments-signature': signatureOf(body, seconds()) }
        const answer = await hooks.call('/webhooks/plain', { body, headers })
        expect([200, 503]).toContain(answer.status)
        return answer.text === handled
      },
      { timeout: 30_000, interval: 1_000 },
    )
    expect(await received('evt_large')).toBe(1)
  })

  it('a body that stalls is 408, and so is one that trickles', async () => {
    const stalled = begin('plain', { 'content-length': 100 }, 'x')
    const trickling = begin('plain', { 'transfer-encoding': 'chunked' }, '1\r\nx\r\n')
    const timer = setInterval(() => trickling.writable && trickling.write('1\r\nx\r\n'), 500)
    onTestFinished(() => clearInterval(timer))
    for (const answer of await Promise.all([text(stalled), text(trickling)])) {
      expect(answer).toMatch(/^HTTP\/1\.1 408 /)
      expect(answer).toContain('"error":"request_timeout","error_description":"the body did not arrive in time"')
    }
  })
})
