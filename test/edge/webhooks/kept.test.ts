/** Rotation, deduplication, records and limits of webhooks, in workerd with Postgres (contract 7.5, 7.7, 7.8, 7.10). */
import { createHmac } from 'node:crypto'
import pg from 'pg'

import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { useStack } from '../../support/stack.ts'

const secrets = {
  ONCE_SECRET: 'once secret',
  ROTATED_SECRET: 'the new one',
  ROTATED_SECRET_OLD: 'the old one',
  STANDARD_SECRET: `whsec_${Buffer.from('standard secret').toString('base64')}`,
  MISSHAPEN_SECRET: 'no key at all',
  SMS_SECRET: 'sms secret',
  STACK_PUBLIC_URL: 'https://tunnel.example/base/',
}
const probe = useStack('test/edge/probe', secrets)
const seconds = () => Math.floor(Date.now() / 1000)
const handled = '{"ok":true,"handled":true}'

function send(payload: object, at = seconds()) {
  const body = JSON.stringify(payload)
  const v1 = createHmac('sha256', secrets.ONCE_SECRET).update(`${at}.${body}`).digest('hex')
  return probe.call('/webhooks/once', { body, headers: { 'x-payments-signature': `t=${at},v1=${v1}` } })
}

function push(body: string, secret = secrets.ROTATED_SECRET, headers: Record<string, string> = {}) {
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  return probe.call('/webhooks/rotated', {
    body,
    headers: { 'x-hub-signature-256': signature, 'x-github-event': 'push', ...headers },
  })
}

const received = async (event: string) => (await probe.sql('select 1 from received where event = $1', [event])).length

interface Recorded {
  headers: Record<string, string>
  search: string
  body: Buffer | null
  outcome: string
  reason: string | null
  event: string | null
  status: number
  duration_ms: number
}

/** Waits for the record of a delivery, which is written shortly after the answer. */
const recordOf = (request: string | null) =>
  vi.waitUntil(
    async () => (await probe.sql<Recorded>('select * from webhooks.deliveries where request_id = $1', [request]))[0],
    { timeout: 5_000 },
  )

describe('7.7 dedupe', () => {
  it('fifty copies at once run the handler once, and all are answered as handled', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => send({ id: 'evt_fifty', type: 'invoice.paid' })))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(new Set([`200 ${handled}`]))
    expect(await received('evt_fifty')).toBe(1)
  })

  it('a retry with a new signature is the same delivery; another id is another one', async () => {
    await send({ id: 'evt_retry', type: 'invoice.paid' })
    expect((await send({ id: 'evt_retry', type: 'invoice.paid', amount: 2 }, seconds() - 20)).text).toBe(handled)
    expect(await received('evt_retry')).toBe(1)
    await send({ id: 'evt_other', type: 'invoice.paid' })
    expect(await received('evt_other')).toBe(1)
  })

  it('without an id, what was signed tells copies from others', async () => {
    const at = seconds()
    for (const time of [at, at, at - 1]) await send({ type: 'invoice.paid', amount: 7 }, time)
    const [row] = await probe.sql<{ count: string }>(
      `select count(*) from webhooks.seen where webhook = 'once' and id like 'sha256:%'`,
    )
    expect(row!.count).toBe('2')
  })

  it.each(['fails.once', 'fails.at-commit'])('%s: nothing is half done, and the retry is handled', async (type) => {
    const id = `evt_${type}`
    const first = await send({ id, type })
    expect([first.status, first.json.error]).toEqual([500, 'handler_failed'])
    expect(await received(id)).toBe(0)
    expect(await probe.sql(`select from webhooks.seen where id = $1`, [`id:${id}`])).toEqual([])
    await probe.sql('insert into tries (id) values ($1)', [id])
    expect((await send({ id, type })).text).toBe(handled)
    expect(await received(id)).toBe(1)
    expect((await send({ id, type })).text).toBe(handled)
    expect(await received(id)).toBe(1)
  })

  it.each(['writes.as-caller', 'tries.to-write'])('the caller’s transaction can only read: %s', async (type) => {
    expect((await send({ id: `evt_${type}`, type })).status).toBe(500)
    expect(await probe.sql(`select from tries where id = 'never'`)).toEqual([])
  })

  it('a swallowed error of the caller’s transaction keeps neither effects nor id', async () => {
    const { status } = await send({ id: 'evt_swallows', type: 'swallows.a-write' })
    expect([status, await received('evt_swallows')]).toEqual([500, 0])
    expect(await probe.sql(`select from webhooks.seen where id = 'id:evt_swallows'`)).toEqual([])
  })

  it('of Standard Webhooks, the signed id counts', async () => {
    const body = '{"type":"ping"}'
    const deliver = (id: string, at = seconds()) => {
      const signature = createHmac('sha256', 'standard secret').update(`${id}.${at}.${body}`).digest('base64')
      const headers = { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': `v1,${signature}` }
      return probe.call('/webhooks/standard', { body, headers })
    }
    for (const [id, age] of [['msg_1'], ['msg_1', 9], ['msg_2']] as [string, number?][]) {
      expect((await deliver(id, seconds() - (age ?? 0))).text).toBe(handled)
    }
    expect(await received('standard.ping')).toBe(2)
  })

  it('ids are kept for thirty days', async () => {
    await probe.sql(
      `insert into webhooks.seen values ('once', 'old', now() - interval '31 days'), ('once', 'young', now() - interval '29 days')`,
    )
    await send({ id: 'evt_sweeps', type: 'invoice.paid' })
    const rows = await probe.sql<{ id: string }>(`select id from webhooks.seen where id in ('old', 'young')`)
    expect(rows).toEqual([{ id: 'young' }])
  })

  it('a webhook without dedupe is told nothing of it: every copy is handled', async () => {
    for (let copy = 0; copy < 2; copy++) expect((await push('{}')).text).toBe(handled)
    expect(await probe.sql(`select from webhooks.seen where webhook = 'rotated'`)).toEqual([])
  })
})

describe('7.5 rotation', () => {
  it('both secrets verify, a third does not, and the log says which it was', async () => {
    const answers = [await push('{}'), await push('{}', secrets.ROTATED_SECRET_OLD)]
    expect(answers.map(({ text }) => text)).toEqual([handled, handled])
    for (const [index, entry] of ['ROTATED_SECRET', 'ROTATED_SECRET_OLD'].entries()) {
      const id = answers[index]!.headers.get('x-request-id')
      const line = await probe.logged(
        ({ request_id, message }) => request_id === id && String(message).startsWith('webhook rotated: "push" handled'),
      )
      expect(line['secret']).toBe(entry)
    }
    expect((await push('{}', 'a third')).status).toBe(401)
  })
})

describe('7.8 record', () => {
  it.each<[string, () => ReturnType<typeof push>, object]>([
    ['handled', () => push('{"a":1}'), { outcome: 'handled', status: 200, event: 'push', reason: null }],
    [
      'failed',
      () => push('{"fails":true}'),
      { outcome: 'failed', status: 500, event: 'push', reason: 'the handler failed' },
    ],
    [
      'unhandled',
      () => push('{}', undefined, { 'x-github-event': 'star' }),
      { outcome: 'unhandled', status: 200, event: 'star' },
    ],
    ['refused', () => push('{}', 'another'), { outcome: 'refused', status: 401, event: null, reason: 'bad_signature' }],
  ])(
    '%s: outcome, reason, raw bytes if they are genuine, duration; headers without signatures',
    async (what, deliver, expected) => {
      const began = Date.now()
      const answer = await deliver()
      const elapsed = Date.now() - began
      const row = await recordOf(answer.headers.get('x-request-id'))
      expect(row).toMatchObject(expected)
      expect([row!.duration_ms >= 0, row!.duration_ms <= elapsed]).toEqual([true, true])
      expect(Buffer.isBuffer(row!.body)).toBe(what !== 'refused')
      expect(row!.headers['x-github-event']).toEqual(expect.any(String))
      expect(row!.headers['x-hub-signature-256']).toBe('')
      expect(JSON.stringify(row)).not.toContain('sha256=')
    },
  )

  it('bytes that are no text are kept as they came', async () => {
    const body = Buffer.from([0xef, 0xbb, 0xbf, 0, 0xff, 0xfe, 13, 10])
    const signature = `sha256=${createHmac('sha256', secrets.ROTATED_SECRET).update(body).digest('hex')}`
    const headers = { 'x-hub-signature-256': signature, 'x-github-event': 'push' }
    const answer = await probe.call('/webhooks/rotated', { body: new Uint8Array(body), headers })
    expect((await recordOf(answer.headers.get('x-request-id')))!.body).toEqual(body)
  })

  it('a delivery that was refused before its body was read has none', async () => {
    const answer = await probe.call('/webhooks/rotated', { body: '{}', headers: {} })
    expect(await recordOf(answer.headers.get('x-request-id'))).toMatchObject({
      outcome: 'refused',
      reason: 'missing_header',
      body: null,
    })
  })

  it('a copy is recorded as such, and an event key of any kind harms nothing', async () => {
    await send({ id: 'evt_copy', type: 'invoice.paid' })
    const copy = await send({ id: 'evt_copy', type: 'invoice.paid' })
    expect(await recordOf(copy.headers.get('x-request-id'))).toMatchObject({ outcome: 'duplicate' })
    const odd = await send({ type: `a\0b\ud800${'x'.repeat(65536)}` })
    const row = await recordOf(odd.headers.get('x-request-id'))
    expect(row).toMatchObject({ outcome: 'unhandled', event: expect.stringMatching(/^a\ufffdb\ufffdx{196}$/) })
  })

  it('nothing that proves a sender is kept, in whichever header or parameter it stands', async () => {
    const proofs = {
      'x-hub-signature': 'sha1=proof',
      'svix-signature': 'v1,proof',
      'x-api-key': 'proof',
      'x-gitlab-token': 'proof',
      'proxy-authorization': 'Basic proof',
      cookie: 'proof=1',
    }
    const body = '{}'
    const signature = `sha256=${createHmac('sha256', secrets.ROTATED_SECRET).update(body).digest('hex')}`
    const headers = { 'x-hub-signature-256': signature, 'x-github-event': 'push', 'x-kept': 'kept', ...proofs }
    const answer = await probe.call('/webhooks/rotated?token=proof&page=2&api_key=proof', { body, headers })
    const row = await recordOf(answer.headers.get('x-request-id'))
    expect(JSON.stringify(row)).not.toContain('proof"')
    expect(row).toMatchObject({ search: '?token=&page=2&api_key=', headers: { 'x-kept': 'kept', 'x-api-key': '' } })
  })

  it('of what nobody signed no body is kept, and headers and query only in part', async () => {
    const headers = {
      'x-payments-signature': `t=${seconds()},v1=${'ab'.repeat(32)}`,
      'x-long': 'x'.repeat(501),
      ...Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`a-${index}`, 'x'])),
    }
    const answer = await probe.call(`/webhooks/once?q=${'x'.repeat(600)}`, { body: 'x', headers })
    const row = (await recordOf(answer.headers.get('x-request-id')))!
    expect(row).toMatchObject({ outcome: 'refused', body: null, search: `?q=${'x'.repeat(497)}` })
    expect(Object.keys(row.headers)).toHaveLength(50)
    const few = await probe.call('/webhooks/once', { body: 'x', headers: { 'x-long': 'x'.repeat(501) } })
    expect((await recordOf(few.headers.get('x-request-id')))!.headers['x-long']).toBe('x'.repeat(500))
  })

  it('the sender does not wait until it is written', async () => {
    const other = new pg.Client(probe.stack.record.database_url)
    await other.connect()
    onTestFinished(() => other.end())
    await other.query('begin; lock table webhooks.deliveries')
    const answer = await push('{}')
    expect(answer.text).toBe(handled)
    await other.query('commit') // No delivery waited until its statement timed out.
    expect(await recordOf(answer.headers.get('x-request-id'))).toMatchObject({ outcome: 'handled' })
  })

  it('stays as many days as were asked for', async () => {
    const { headers } = await send({ id: 'evt_days', type: 'invoice.paid' })
    const id = headers.get('x-request-id')
    await recordOf(id)
    await probe.sql(`update webhooks.deliveries set received_at = now() - interval '49 hours' where request_id = $1`, [
      id,
    ])
    await recordOf((await send({ id: 'evt_days_2', type: 'invoice.paid' })).headers.get('x-request-id'))
    expect(await probe.sql('select from webhooks.deliveries where request_id = $1', [id])).toEqual([])
  })

  it('handlers cannot read it as the caller', async () => {
    const rows = await probe.sql<{ can: boolean }>(
      `select has_schema_privilege('backend_authenticated', 'webhooks', 'usage') as can`,
    )
    expect(rows).toEqual([{ can: false }])
  })
})

describe('limits', () => {
  it('maxBodyBytes: a longer body is 413, whether its length is said or not; one of just that length is taken', async () => {
    const fitting = JSON.stringify({ text: 'x'.repeat(1000 - '{"text":""}'.length) })
    expect((await push(fitting)).text).toBe(handled)
    const long = await push(`${fitting} `)
    expect([long.status, long.json.error]).toEqual([413, 'payload_too_large'])
    const signature = `sha256=${createHmac('sha256', secrets.ROTATED_SECRET).update(`${fitting} `).digest('hex')}`
    const streamed = await fetch(`${probe.url}/webhooks/rotated`, {
      method: 'POST',
      headers: { 'x-hub-signature-256': signature, 'x-github-event': 'push' },
      body: new Blob([`${fitting} `]).stream(),
      duplex: 'half',
    } as RequestInit)
    expect(streamed.status).toBe(413)
  })

  it('7.10 a misshapen secret refuses every delivery, and is named at the first request without its text', async () => {
    const headers = { 'x-signature-ed25519': 'ab'.repeat(64), 'x-signature-timestamp': String(seconds()) }
    const answer = await probe.call('/webhooks/misshapen', { body: '{"type":1}', headers })
    expect(answer.status).toBe(401)
    const id = answer.headers.get('x-request-id')
    expect(await probe.logged(({ reason, request_id }) => request_id === id && reason !== undefined)).toMatchObject({
      reason: 'malformed_secret',
    })
    const line = await probe.logged(({ message }) =>
      String(message).startsWith('webhook misshapen refuses every delivery'),
    )
    expect(line['message']).toBe(
      'webhook misshapen refuses every delivery: its secret MISSHAPEN_SECRET is malformed: it is no Ed25519 public key: 64 hex digits (PUT /admin/vault/backend/MISSHAPEN_SECRET)',
    )
  })

  it('an unsigned upload is refused before its body has arrived', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const body = new ReadableStream({
      async pull(controller) {
        controller.enqueue(new Uint8Array(1024))
        await promise // The rest of the body would never come.
        controller.close()
      },
    })
    const answer = await fetch(`${probe.url}/webhooks/once`, { method: 'POST', body, duplex: 'half' } as RequestInit)
    expect(answer.status).toBe(401)
    resolve()
  })
})

describe('7.2 the URL that is signed', () => {
  const deliver = (name: string, url: string, fields: Record<string, string>, query = '') => {
    const form = new URLSearchParams(fields).toString()
    const signature = getExpectedTwilioSignature(secrets.SMS_SECRET, url, fields)
    const header = name === 'sms' ? 'x-sms-signature' : 'x-twilio-signature'
    const headers = { [header]: signature, 'content-type': 'application/x-www-form-urlencoded' }
    return probe.call(`/webhooks/${name}${query}`, { body: form, headers })
  }
  const added = { EventType: 'onMessageAdded', Body: 'x' }
  const message = { SmsStatus: 'received', Body: 'x' }

  it.each<[string, string, Record<string, string>, string, number]>([
    ['sms', "https://Hooks.example/o'brien/sms", added, '', 200],
    ['sms', "https://Hooks.example:443/o'brien/sms", added, '', 200],
    ['sms', "https://Hooks.example/o'brien/sms?a=1&b='", added, "?a=1&b='", 200],
    ['sms', "https://hooks.example/o'brien/sms", added, '', 401],
    ['sms', "http://Hooks.example/o'brien/sms", added, '', 401],
    ['sms', "https://Hooks.example:8443/o'brien/sms", added, '', 401],
    ['sms', "https://Hooks.example/o'brien/sms", added, '?a=1', 401],
    ['sms', 'https://tunnel.example/base/webhooks/sms', added, '', 401],
    ['twilio', 'https://tunnel.example/base/webhooks/twilio', message, '', 200],
    ['twilio', 'https://tunnel.example:443/base/webhooks/twilio?q=%27', message, '?q=%27', 200],
    ['twilio', 'https://other.example/base/webhooks/twilio', message, '', 401],
  ])('%s as %s: %j%s %i', async (name, url, fields, query, status) => {
    expect((await deliver(name, url, fields, query)).status).toBe(status)
  })

  it('not what a sender says of the host', async () => {
    const form = new URLSearchParams(message).toString()
    const url = 'https://evil.example/webhooks/twilio'
    const headers = {
      'x-twilio-signature': getExpectedTwilioSignature(secrets.SMS_SECRET, url, message),
      'content-type': 'application/x-www-form-urlencoded',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
    }
    expect((await probe.call('/webhooks/twilio', { body: form, headers })).status).toBe(401)
  })
})
