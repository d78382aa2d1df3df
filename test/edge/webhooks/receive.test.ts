/** Deliveries that the providers' own SDKs sign, through the real bundle in workerd (contract 7). */
import { createHmac } from 'node:crypto'
import { sign } from '@octokit/webhooks-methods'
import Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { useStack } from '../../support/stack.ts'

const secrets = {
  STRIPE_SECRET: 'whsec_stripe_secret',
  GITHUB_SECRET: "It's a Secret to Everybody",
  BLOCK_SECRET: 'block secret',
}
const probe = useStack('test/edge/probe', secrets)
const shop = useStack('examples/orders')

const stripe = new Stripe('sk_test_unused')
const seconds = () => Math.floor(Date.now() / 1000)

interface Delivery {
  name?: string
  body: BodyInit
  headers: Record<string, string>
}

const deliver = ({ name = 'stripe', body, headers }: Delivery, stack = probe) =>
  stack.call(`/webhooks/${name}`, { body, headers })

function byStripe(payload: string, { secret = secrets.STRIPE_SECRET, timestamp = seconds() } = {}): string {
  return stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp })
}

async function received(event: string): Promise<unknown[]> {
  const rows = await probe.sql<{ payload: unknown }>('select payload from received where event = $1', [event])
  return rows.map(({ payload }) => payload)
}

const rejected = {
  error: 'unauthorized',
  error_description: 'webhook signature rejected',
  status: 401,
  request_id: expect.stringMatching(/^req_/),
}
const handled = '{"ok":true,"handled":true}'
const unhandled = '{"ok":true,"handled":false}'

describe('signed by stripe', () => {
  const body = JSON.stringify({ id: 'evt_1', type: 'invoice.paid', data: { amount: 1 } })

  it('is accepted on the provider’s own header, and the handler gets the payload', async () => {
    const answer = await deliver({ body, headers: { 'stripe-signature': byStripe(body) } })
    expect([answer.status, answer.text]).toEqual([200, handled])
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
    expect(await received('invoice.paid')).toEqual([JSON.parse(body)])
  })

  it('is accepted on the neutral header', async () => {
    const payload = JSON.stringify({ type: 'payment.succeeded', data: { order: 0 } })
    const headers = { 'x-payments-signature': byStripe(payload, { secret: 'payments-secret' }) }
    const answer = await deliver({ name: 'payments', body: payload, headers }, shop)
    expect([answer.status, answer.text]).toEqual([200, handled])
  })

  it('is refused on the other’s header', async () => {
    const answer = await deliver({ body, headers: { 'x-payments-signature': byStripe(body) } })
    expect(answer.json).toEqual(rejected)
  })

  it('one of several v1 suffices; other schemes are ignored', async () => {
    const good = byStripe(body)
    const [time, v1] = good.split(',') as [string, string]
    const rotated = `${time},v1=${'0'.repeat(64)},${v1},v0=zzz`
    expect((await deliver({ body, headers: { 'stripe-signature': rotated } })).text).toBe(handled)
    expect((await deliver({ body, headers: { 'stripe-signature': `${time},${v1.replace('v1', 'v0')}` } })).status).toBe(
      401,
    )
  })

  it.each([
    ['one byte of the body changed', () => ({ body: body.replace('1}', '2}'), signature: byStripe(body) })],
    ['a byte added after signing', () => ({ body: `${body}\n`, signature: byStripe(body) })],
    ['301 seconds old', () => ({ body, signature: byStripe(body, { timestamp: seconds() - 301 }) })],
    ['301 seconds ahead', () => ({ body, signature: byStripe(body, { timestamp: seconds() + 302 }) })],
    ['another secret', () => ({ body, signature: byStripe(body, { secret: 'whsec_other' }) })],
    ['no signature', () => ({ body, signature: '' })],
    [
      'another time than the signed one',
      () => ({ body, signature: byStripe(body).replace(/t=\d+/, `t=${seconds() + 1}`) }),
    ],
    ['two times', () => ({ body, signature: `t=${seconds()},${byStripe(body)}` })],
    ['a time that is no number', () => ({ body, signature: byStripe(body).replace(/t=\d+/, 't=1e9') })],
    [
      'upper-case hex',
      () => ({ body, signature: byStripe(body).replace(/v1=.*/, (v1) => `v1=${v1.slice(3).toUpperCase()}`) }),
    ],
    ['a truncated signature', () => ({ body, signature: byStripe(body).slice(0, -2) })],
  ])('%s: 401 with the one body', async (_what, make) => {
    const { body: sent, signature } = make()
    const answer = await deliver({ body: sent, headers: { 'stripe-signature': signature } })
    expect([answer.status, answer.json]).toEqual([401, rejected])
  })

  it('7.4 299 seconds old is still accepted', async () => {
    const signature = byStripe(body, { timestamp: seconds() - 299 })
    expect((await deliver({ body, headers: { 'stripe-signature': signature } })).status).toBe(200)
  })

  it('the reason is in the log, and nowhere else', async () => {
    const headers = { 'stripe-signature': byStripe(body, { timestamp: seconds() - 400 }) }
    const { json } = await deliver({ body, headers })
    const line = await probe.logged((entry) => entry['request_id'] === json.request_id && 'reason' in entry)
    expect(line).toMatchObject({ level: 'warn', webhook: 'stripe', reason: 'stale_timestamp' })
  })
})

describe('signed by @octokit/webhooks-methods', () => {
  const body = JSON.stringify({ action: 'opened', issue: { number: 7 } })

  it('is accepted on the provider’s own headers; the event is the header and the action', async () => {
    const headers = { 'x-hub-signature-256': await sign(secrets.GITHUB_SECRET, body), 'x-github-event': 'issues' }
    expect((await deliver({ name: 'github', body, headers })).text).toBe(handled)
    expect(await received('issues.opened')).toEqual([JSON.parse(body)])
  })

  it('without an action, the event is the header alone', async () => {
    const push = JSON.stringify({ ref: 'refs/heads/main' })
    const headers = { 'x-hub-signature-256': await sign(secrets.GITHUB_SECRET, push), 'x-github-event': 'push' }
    expect((await deliver({ name: 'github', body: push, headers })).text).toBe(handled)
    expect(await received('push')).toEqual([JSON.parse(push)])
  })

  it('is accepted on the neutral headers, and announced in the catalogue', async () => {
    const release = JSON.stringify({ action: 'published', release: { tag_name: 'v2' } })
    const signature = await sign('codehost-secret', release)
    const headers = { 'x-codehost-signature-256': signature, 'x-codehost-event': 'release' }
    expect((await deliver({ name: 'codehost', body: release, headers }, shop)).text).toBe(handled)
    expect((await shop.call('/catalogue')).json.release).toBe('v2')
  })

  it('the published known answer verifies', async () => {
    const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'
    const headers = { 'x-hub-signature-256': signature, 'x-github-event': 'ping' }
    const answer = await deliver({ name: 'github', body: 'Hello, World!', headers })
    expect([answer.status, answer.text]).toEqual([200, unhandled])
    expect((await deliver({ name: 'github', body: 'Hello, World?', headers })).json).toEqual(rejected)
  })

  it.each([
    ['no prefix', (signature: string) => signature.replace('sha256=', '')],
    ['another prefix', (signature: string) => signature.replace('sha256=', 'sha1=')],
    ['something before the prefix', (signature: string) => ` x${signature}`],
    ['another secret', () => sign('other', body)],
    ['two values', (signature: string) => `${signature}, ${signature}`],
  ])('%s: 401', async (_what, change) => {
    const signature = await change(await sign(secrets.GITHUB_SECRET, body))
    const headers = { 'x-hub-signature-256': signature, 'x-github-event': 'issues' }
    expect((await deliver({ name: 'github', body, headers })).json).toEqual(rejected)
  })
})

describe('7.1 raw bytes', () => {
  it('bytes that are no text verify as they were sent, and change nothing else', async () => {
    const raw = new Uint8Array([0xef, 0xbb, 0xbf, 0xff, 0xfe, 0x0d, 0x0a, 0x00])
    const signature = `sha256=${createHmac('sha256', secrets.GITHUB_SECRET).update(raw).digest('hex')}`
    const headers = { 'x-hub-signature-256': signature, 'x-github-event': 'push' }
    expect((await deliver({ name: 'github', body: raw, headers })).text).toBe(handled)
    const [row] = await probe.sql<{ bytes: number }>('select bytes from received where bytes is not null')
    expect(row).toEqual({ bytes: raw.length })
    raw[3] = 0xfe
    expect((await deliver({ name: 'github', body: raw, headers })).status).toBe(401)
  })

  it('an empty body verifies as such', async () => {
    const headers = { 'x-hub-signature-256': await sign(secrets.GITHUB_SECRET, ' ').then(() => '') }
    headers['x-hub-signature-256'] = `sha256=${createHmac('sha256', secrets.GITHUB_SECRET).update('').digest('hex')}`
    expect((await deliver({ name: 'github', body: '', headers })).text).toBe(unhandled)
  })
})

describe('a signature block', () => {
  const body = JSON.stringify({ type: 'ping', text: '{ts} {body} $&' })

  function headers(secret: string, time = seconds(), signed = `$&${time}:${body}:{id}`) {
    const signature = createHmac('sha1', secret).update(signed).digest('base64')
    return { 'x-block-signature': `v0=${signature}`, 'x-block-time': String(time) }
  }

  it('is built from the template on bytes: nothing in a value is taken for a placeholder', async () => {
    const answer = await deliver({ name: 'signed-block', body, headers: headers(secrets.BLOCK_SECRET) })
    expect([answer.status, answer.text]).toEqual([200, handled])
    expect(await received('ping')).toEqual([
      { requestId: answer.headers.get('x-request-id'), env: true, payload: JSON.parse(body) },
    ])
  })

  it.each([
    ['another secret', headers('other')],
    ['301 seconds old', headers(secrets.BLOCK_SECRET, seconds() - 302)],
    ['another template', headers(secrets.BLOCK_SECRET, seconds(), body)],
    ['no time', { 'x-block-signature': headers(secrets.BLOCK_SECRET)['x-block-signature'] }],
  ])('%s: 401', async (_what, wrong) => {
    expect((await deliver({ name: 'signed-block', body, headers: wrong as Record<string, string> })).json).toEqual(
      rejected,
    )
  })

  it('takes its key from the top-level type alone', async () => {
    const other = JSON.stringify({ event: 'ping' })
    const time = seconds()
    const answer = await deliver({
      name: 'signed-block',
      body: other,
      headers: headers(secrets.BLOCK_SECRET, time, `$&${time}:${other}:{id}`),
    })
    expect(answer.text).toBe(unhandled)
  })
})

describe('the table of answers', () => {
  const send = (payload: object) => {
    const body = JSON.stringify(payload)
    return deliver({ body, headers: { 'stripe-signature': byStripe(body) } })
  }

  it('no handler for the event: 200 handled false, and the key that arrived is logged', async () => {
    const answer = await send({ type: 'invoice.lost\r\n\u001b[31m' })
    expect([answer.status, answer.text]).toEqual([200, unhandled])
    const line = await probe.logged(
      ({ reason, request_id }) => reason === 'unhandled' && request_id === answer.headers.get('x-request-id'),
    )
    expect(line['message']).toBe(
      'webhook stripe has no handler for this event: "invoice.lost\\r\\n\\u001b[31m"; bound: invoice.paid, invoice.voided, probe.reply, probe.write-and-throw, probe.whoami, __proto__',
    )
  })

  it('keys like __proto__ and constructor are keys', async () => {
    expect((await send({ type: 'constructor' })).text).toBe(unhandled)
    expect((await send({ type: '__proto__' })).text).toBe(handled)
    expect(await received('__proto__')).toEqual([null])
  })

  it('two events of one method, told apart by meta', async () => {
    expect((await send({ type: 'invoice.voided' })).text).toBe(handled)
    expect(await received('invoice.voided')).toHaveLength(1)
  })

  it('7.6 a handler’s Response is sent as it is', async () => {
    const answer = await send({ type: 'probe.reply' })
    expect([answer.text, answer.headers.get('content-type')]).toEqual(['<Response/>', 'text/xml'])
  })

  it('a handler that throws: 500 handler_failed, nothing written, so a retry starts clean', async () => {
    const answer = await send({ type: 'probe.write-and-throw' })
    expect([answer.status, answer.json]).toEqual([
      500,
      {
        error: 'handler_failed',
        error_description: 'the handler for this event failed',
        status: 500,
        request_id: answer.headers.get('x-request-id'),
      },
    ])
    expect(await received('probe.write-and-throw')).toEqual([])
  })

  it('there is no signed-in user: owner-scoped rows match nothing, even beside a valid token', async () => {
    const person = await probe.signUp()
    await probe.call('/sql/note/mine', { method: 'POST', token: person.token })
    const body = JSON.stringify({ type: 'probe.whoami' })
    const headers = { 'stripe-signature': byStripe(body), authorization: `Bearer ${person.token}` }
    expect((await deliver({ body, headers })).text).toBe(handled)
    expect(await received('probe.whoami')).toEqual([{ uid: null, notes: '0' }])
  })

  it('an unset secret refuses every delivery, and is named at the first request', async () => {
    const body = '{"type":"ping"}'
    const time = seconds()
    const signature = createHmac('sha256', '').update(`${time}.${body}`).digest('hex')
    const answer = await deliver({
      name: 'unset',
      body,
      headers: { 'x-payments-signature': `t=${time},v1=${signature}` },
    })
    expect(answer.json).toEqual(rejected)
    const said = (message: string) => probe.logged((line) => line['message'] === message)
    await said(
      'webhooks mounted: /webhooks/stripe, /webhooks/github, /webhooks/signed-block, /webhooks/unset, /webhooks/once, /webhooks/rotated, /webhooks/standard, /webhooks/misshapen, /webhooks/sms, /webhooks/twilio',
    )
    await said(
      'webhook unset refuses every delivery: its secret UNSET_SECRET is unset (PUT /admin/vault/backend/UNSET_SECRET)',
    )
  })

  it('no webhook of that name: 404 whatever the method', async () => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const answer = await probe.call('/webhooks/nothing', { method })
      expect(answer.json).toMatchObject({
        error: 'not_found',
        error_description: 'no webhook named nothing',
        status: 404,
      })
    }
    expect((await probe.call('/webhooks/__proto__', { method: 'POST' })).status).toBe(404)
    expect((await probe.call('/webhooks/%E0%A4%A', { method: 'POST' })).status).toBe(404)
  })

  it('a known one answers 405 with allow: POST to anything else', async () => {
    const answer = await probe.call('/webhooks/stripe')
    expect([answer.status, answer.json.error, answer.headers.get('allow')]).toEqual([405, 'method_not_allowed', 'POST'])
  })
})
