/**
 * Every preset beside its provider, through the real bundle in workerd (contract 7). A delivery that the provider's own SDK
 * signs is accepted and handled. One that differs in a signed byte is refused.
 */
import { createHash, createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { batched } from '../../support/batched.ts'
import { sendRaw } from '../../support/raw.ts'
import { nowSeconds, type SenderName, senderNames, senders } from '../../support/senders.ts'
import { useStack } from '../../support/stack.ts'
import {
  type Delivery,
  hostileVariants,
  legitimateVariants,
  signedAt,
  unreadable,
} from '../../support/variants/index.ts'

const secretOf = (name: SenderName) => `${name.toUpperCase()}_SECRET`

const hooks = useStack(
  'test/edge/hooks',
  Object.fromEntries([
    ...senderNames.map((name) => [secretOf(name), senders[name].secret]),
    ['META_TOKEN', 'meta verify token'],
    ['GITLAB_TOKEN', 'a plain gitlab token'],
  ]),
)

const urlOf = (name: SenderName) => `${hooks.url}/webhooks/${name}`

const deliver = (name: SenderName, { headers, body, query = '', chunk }: Delivery) =>
  sendRaw({
    url: hooks.url,
    target: `/webhooks/${name}${query}`,
    headers,
    body,
    ...(chunk === undefined ? {} : { chunk }),
  })

/** Sends a delivery as the provider sends it. */
async function send(name: SenderName, body: Uint8Array, event?: string) {
  const sender = senders[name]
  const signed = await sender.sign(body, { url: urlOf(name), ...(event === undefined ? {} : { event }) })
  const headers = Object.entries({ 'content-type': sender.contentType, ...signed })
  return deliver(name, { headers, body })
}

async function received(name: SenderName, { headers }: { headers: Headers }) {
  return hooks.sql<{ event: string; payload: unknown }>(
    'select event, payload from received where webhook = $1 and request_id = $2',
    [name, headers.get('x-request-id')],
  )
}

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text))
const json = (value: unknown) => bytesOf(JSON.stringify(value))
const formOf = (fields: Record<string, string>) => bytesOf(new URLSearchParams(fields).toString())

const isForm = (name: SenderName) => name === 'sms' || name === 'twilio'

/** Senders whose event key is not in the body, and slack, which reads any body as a form. */
const takesBytes = new Set<SenderName>(['codehost', 'github', 'shopify', 'emailservice', 'sendgrid', 'slack'])

/** Expects the one body that every refusal has. */
function refusalProblem({ status, headers, text }: { status: number; headers: Headers; text: string }) {
  const wanted = JSON.stringify({
    error: 'unauthorized',
    error_description: 'webhook signature rejected',
    status: 401,
    request_id: headers.get('x-request-id'),
  })
  return status === 401 && text === wanted ? undefined : `${status} ${text}`
}

describe.each(senderNames)('%s', (name) => {
  const sender = senders[name]

  it('is accepted and handled, with its key and its payload', async () => {
    const body = sender.body(sender.event)
    const answer = await send(name, body)
    expect(answer.status).toBe(200)
    const payload = isForm(name)
      ? Object.fromEntries(new URLSearchParams(Buffer.from(body).toString()))
      : JSON.parse(Buffer.from(body).toString())
    expect(await received(name, answer)).toEqual([{ event: sender.event, payload }])
  })

  it('every legitimate variant is accepted; 7.1 one that must be JSON and is not is 400, and no fault of a handler', async () => {
    const variants = await legitimateVariants(sender, urlOf(name))
    const isBroken = (what: string) => unreadable.includes(what) && !takesBytes.has(name)
    const accepted = variants.filter(([what]) => !isBroken(what))
    const problems = await batched(accepted, async (delivery) => {
      const { status, text } = await deliver(name, delivery)
      return status === 200 ? undefined : `${status} ${text}`
    })
    expect(problems).toEqual([])
    const broken = variants.filter(([what]) => isBroken(what))
    expect(broken.length).toBe(takesBytes.has(name) || isForm(name) ? 0 : unreadable.length)
    for (const [what, delivery] of broken) {
      const { status, text } = await deliver(name, delivery)
      expect([what, status, JSON.parse(text)]).toMatchObject([
        what,
        400,
        { error: 'invalid_request', fields: [{ path: 'body', reason: 'the body is not valid JSON' }] },
      ])
    }
  })

  it('every hostile variant is refused, with the one body', async () => {
    const hostile = await hostileVariants(sender, urlOf(name))
    expect(hostile.length).toBeGreaterThanOrEqual(30)
    expect(new Set(hostile.map(([what]) => what)).size).toBe(hostile.length)
    const count = async () => {
      const [row] = await hooks.sql<{ count: string }>('select count(*) from received where webhook = $1', [name])
      return row!.count
    }
    const before = await count()
    const problems = await batched(hostile, async (delivery) => refusalProblem(await deliver(name, delivery)))
    expect(problems).toEqual([])
    expect(await count()).toBe(before)
  })
})

it('7.4 exactly 300 s old is accepted, 301 s is not', async () => {
  const names = senderNames.filter((name) => senders[name].scheme.isTimed || name === 'linear')
  // All deliveries must arrive within one second of the clock, so a few senders go at a time, and again if a second passed.
  for (let at = 0; at < names.length; at += 4) await withinOneSecond(names.slice(at, at + 4))
}, 120_000)

async function withinOneSecond(names: readonly SenderName[]): Promise<void> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const second = nowSeconds() + 2
    const signed = await Promise.all(
      names.flatMap((name) =>
        [300, 301].map(async (age) => [name, age, await signedAt(senders[name], urlOf(name), second - age)] as const),
      ),
    )
    await sleep(second * 1000 + 20 - Date.now())
    const answers = await Promise.all(
      signed.map(async ([name, age, delivery]) => [name, age, (await deliver(name, delivery)).status]),
    )
    if (nowSeconds() !== second) continue // The second passed, so it is unknown at which second each delivery arrived.
    expect(answers).toEqual(signed.map(([name, age]) => [name, age, age === 300 ? 200 : 401]))
    return
  }
  throw new Error('no second was long enough for eight deliveries')
}

describe('event keys', () => {
  const slackForm = (payload: object) => formOf({ payload: JSON.stringify(payload) })

  it.each<[SenderName, string, Uint8Array, string?]>([
    ['codehost', 'push', json({ ref: 'refs/heads/main' }), 'push'],
    ['github', 'push', json({ ref: 'refs/heads/main' }), 'push'],
    ['chat', 'event_callback', json({ type: 'event_callback', event: { type: 'other' } })],
    ['slack', 'app_rate_limited', json({ type: 'app_rate_limited', team_id: 'T1' })],
    ['slack', 'block_actions', slackForm({ type: 'block_actions', actions: [] })],
    ['slack', '/weather', formOf({ command: '/weather', text: '94070', team_id: 'T1' })],
    ['twilio', 'onMessageAdded', formOf({ EventType: 'onMessageAdded', MessageStatus: 'sent' })],
    ['twilio', 'delivered', formOf({ MessageStatus: 'delivered', SmsStatus: 'sent' })],
    ['twilio', 'received', formOf({ SmsStatus: 'received', Body: 'Hello' })],
    ['twilio', 'ringing', formOf({ CallStatus: 'ringing', CallSid: 'CA1' })],
    ['chatbot', 'PING', json({ type: 1 })],
    ['chatbot', 'type_3', json({ type: 3, data: {} })],
    ['discord', 'type_3', json({ type: 3, data: {} })],
    [
      'discord',
      'APPLICATION_AUTHORIZED',
      json({ version: 1, type: 1, event: { type: 'APPLICATION_AUTHORIZED', data: {} } }),
    ],
    ['emailservice', 'event_batch', json([])],
    ['sendgrid', 'event_batch', json([])],
    ['linear', 'Issue.remove', json({ type: 'Issue', action: 'remove', webhookTimestamp: Date.now() })],
    ['linear', 'AppUserNotification', json({ type: 'AppUserNotification', webhookTimestamp: Date.now() })],
    ['meta', 'page.messaging', json({ object: 'page', entry: [{ messaging: [{ message: {} }] }] })],
    ['meta', 'event_batch', json({ object: 'page', entry: [{ changes: [{ field: 'feed' }, { field: 'mention' }] }] })],
    ['gitlab', 'push', json({ object_kind: 'push', ref: 'refs/heads/main' })],
  ])('%s: %s', async (name, key, body, event) => {
    const answer = await send(name, body, event)
    expect(answer.status).toBe(200)
    expect((await received(name, answer)).map((row) => row.event)).toEqual([key])
  })

  it.each<[SenderName, string, Uint8Array]>([
    ['payments', 'a type that is no text', json({ type: 1 })],
    ['payments', 'a type within', json({ data: { type: 'payment.succeeded' } })],
    ['payments', 'an event for a type', json({ event: 'payment.succeeded' })],
    ['chat', 'the type of an inner event', json({ type: 'other', event: { type: 'app_mention' } })],
    ['slack', 'the type of an event that is no callback', json({ type: 'other', event: { type: 'app_mention' } })],
    ['sms', 'a status for a type', formOf({ MessageStatus: 'onMessageAdded' })],
    ['realtime', 'a type for an event', json({ type: 'room_started' })],
    ['livekit', 'a type for an event', json({ type: 'room_started' })],
    ['chatbot', 'a number in words', json({ type: '2' })],
    ['chatbot', 'a fraction', json({ type: 2.5 })],
    ['discord', 'a number in words', json({ type: '2' })],
    ['standard', 'an event for a type', json({ event: 'invoice.paid' })],
    ['paddle', 'a type for an event_type', json({ type: 'transaction.completed' })],
    ['zoom', 'an event within', json({ payload: { event: 'meeting.started' } })],
    ['gitlab', 'a name for a kind', json({ name: 'push', type: 'push' })],
  ])('%s: %s is no key', async (name, _what, body) => {
    const answer = await send(name, body)
    expect(answer.status).toBe(200)
    if (name !== 'twilio') expect(answer.text).toBe('{"ok":true,"handled":false}')
    expect(await received(name, answer)).toEqual([])
  })
})

describe('7.6 handshakes and answers', () => {
  it('the challenge of slack is answered once it is verified', async () => {
    const body = json({ type: 'url_verification', token: 'x', challenge: '3eZbrw1aBm2rZgRNFdxV' })
    const answer = await send('slack', body)
    expect([answer.status, answer.text.includes('3eZbrw1aBm2rZgRNFdxV')]).toEqual([200, true])
    const unsigned: [string, string][] = [['content-type', 'application/json']]
    expect(refusalProblem(await deliver('slack', { headers: unsigned, body }))).toBeUndefined()
  })

  it('the pings of discord are answered once they are verified', async () => {
    const interaction = await send('discord', json({ type: 1, id: '1', application_id: '2' }))
    expect([interaction.status, JSON.parse(interaction.text)]).toEqual([200, { type: 1 }])
    expect((await send('discord', json({ version: 1, application_id: '2', type: 0 }))).status).toBe(204)
    expect(refusalProblem(await deliver('discord', { headers: [], body: json({ type: 1 }) }))).toBeUndefined()
  })

  it('a message of twilio is answered with an empty TwiML document', async () => {
    const answer = await send('twilio', formOf({ SmsStatus: 'received', MessageSid: 'SM1', Body: 'Hello' }))
    expect([answer.status, answer.headers.get('content-type')?.split(';')[0]]).toEqual([200, 'text/xml'])
    expect(answer.text).toMatch(/^(<\?xml[^>]*\?>\s*)?<Response(\s*\/>|><\/Response>)\s*$/)
  })

  it('forms of slack get an empty 200, events the table’s', async () => {
    const forms: Record<string, string>[] = [
      { command: '/weather' },
      { payload: '{"type":"block_actions"}' },
      { command: '/unbound' },
    ]
    for (const fields of forms) {
      const answer = await send('slack', formOf(fields))
      expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([200, '', null])
    }
    expect((await send('slack', json({ type: 'unbound' }))).text).toBe('{"ok":true,"handled":false}')
  })

  it('the URL validation of zoom is answered with the signed token, once it is verified', async () => {
    const body = json({
      event: 'endpoint.url_validation',
      payload: { plainToken: 'qgg8vlvZRS6UYooatFL8Aw' },
      event_ts: 1,
    })
    const answer = await send('zoom', body)
    const encryptedToken = createHmac('sha256', senders.zoom.secret).update('qgg8vlvZRS6UYooatFL8Aw').digest('hex')
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      200,
      { plainToken: 'qgg8vlvZRS6UYooatFL8Aw', encryptedToken },
    ])
    expect(refusalProblem(await deliver('zoom', { headers: [], body }))).toBeUndefined()
    // A token that could pass for the signed bytes of a delivery is not signed.
    const forged = json({ event: 'endpoint.url_validation', payload: { plainToken: `v0:${nowSeconds()}:{}` } })
    expect((await send('zoom', forged)).text).toBe('{"ok":true,"handled":false}')
  })

  it('answers no sender with an object of a handler that is not interactive, or with anything but an object', async () => {
    const sent = async (name: SenderName, body: Uint8Array) => (await send(name, body)).text
    expect(await sent('zoom', json({ event: 'replies', payload: {} }))).toBe('{"reply":"to zoom"}')
    expect(await sent('meta', json({ object: 'page', entry: [{ changes: [{ field: 'replies' }] }] }))).toBe(
      '{"reply":"to meta"}',
    )
    expect(await sent('discord', json({ type: 4 }))).toBe('{"reply":"to discord"}')
    expect(await sent('slack', formOf({ command: '/replies' }))).toBe('{"reply":"to slack"}')
    expect(await sent('twilio', formOf({ EventType: 'replies' }))).toBe('{"reply":"to twilio"}')
    expect(await sent('zoom', json({ event: 'replies', payload: { text: true } }))).toBe('{"ok":true,"handled":true}')
    const others = [
      ['paddle', json({ event_type: 'replies' })],
      ['chatbot', json({ type: 4 })],
      ['chat', json({ type: 'replies' })],
      ['payments', json({ type: 'replies' })],
    ] as const
    for (const [name, body] of others) expect(await sent(name, body)).toBe('{"ok":true,"handled":true}')
  })

  describe('the subscription of meta', () => {
    const ask = (query: string, method = 'GET') => hooks.call(`/webhooks/meta${query}`, { method })
    const right = 'hub.mode=subscribe&hub.verify_token=meta%20verify%20token&hub.challenge=1158201444'

    it('a GET with the token is answered with its challenge, as plain text', async () => {
      const answer = await ask(`?${right}`)
      expect([answer.status, answer.text]).toEqual([200, '1158201444'])
      expect(answer.headers.get('content-type')).toBe('text/plain')
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
    })

    it('without a token on this side is refused, also an empty one', async () => {
      for (const token of ['meta%20verify%20token', '', 'undefined']) {
        const query = right.replace(/hub.verify_token=[^&]*/, `hub.verify_token=${token}`)
        const answer = await hooks.call(`/webhooks/meta-closed?${query}`)
        expect([token, answer.status]).toEqual([token, 401])
      }
    })

    it.each([
      ['another token', right.replace('meta%20', 'Meta%20'), 401],
      ['no token', right.replace(/hub.verify_token=[^&]*/, 'x=1'), 401],
      ['an empty token', right.replace(/hub.verify_token=[^&]*/, 'hub.verify_token='), 401],
      ['the secret for the token', right.replace('meta%20verify%20token', 'meta%20app%20secret'), 401],
      ['no challenge', right.replace('hub.challenge', 'challenge'), 400],
      ['a challenge without an end', right + '1'.repeat(300), 400],
    ])('%s: no challenge', async (_what, query, status) => {
      const answer = await ask(`?${query}`)
      expect(answer.status).toBe(status)
      if (status === 401) expect(refusalProblem(answer)).toBeUndefined()
    })

    it.each([
      ['GET', ''],
      ['GET', `?${right.replace('=subscribe', '=unsubscribe')}`],
      ['PUT', `?${right}`],
      ['DELETE', ''],
    ])('%s %s: 405 with both methods', async (method, query) => {
      const answer = await ask(query, method)
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, POST'])
    })

    it('no other provider answers GET, and the log says what to change', async () => {
      const answer = await hooks.call(`/webhooks/twilio?${right}`)
      expect([answer.status, answer.json.error, answer.headers.get('allow')]).toEqual([
        405,
        'method_not_allowed',
        'POST',
      ])
      const id = answer.headers.get('x-request-id')
      const line = await hooks.logged(({ request_id }) => request_id === id)
      expect(line['message']).toBe(
        'webhook twilio was called by "GET", and deliveries come by POST. If the provider sent it, set the method of its callback to POST there.',
      )
    })
  })

  it.each(senderNames.filter((name) => name !== 'twilio'))(
    '%s: a handled delivery answers the table’s',
    async (name) => {
      const sender = senders[name]
      expect((await send(name, sender.body(sender.event))).text).toBe('{"ok":true,"handled":true}')
    },
  )
})

describe('7.2 the token of gitlab', () => {
  const body = json({ object_kind: 'push', ref: 'refs/heads/main' })
  const ask = (headers: [string, string][]) => deliver('gitlab-token' as SenderName, { headers, body })

  it('the whole secret in the header is accepted, and the event is the body’s', async () => {
    const answer = await ask([
      ['x-gitlab-token', 'a plain gitlab token'],
      ['x-gitlab-event', 'Issue Hook'],
    ])
    expect(answer.text).toBe('{"ok":true,"handled":true}')
    const rows = await hooks.sql('select event from received where request_id = $1', [
      answer.headers.get('x-request-id'),
    ])
    expect(rows).toEqual([{ event: 'push' }])
  })

  it.each<[string, [string, string][]]>([
    ['none', []],
    ['an empty one', [['x-gitlab-token', '']]],
    ['a part of it', [['x-gitlab-token', 'a plain gitlab toke']]],
    ['more than it', [['x-gitlab-token', 'a plain gitlab token1']]],
    ['another case', [['x-gitlab-token', 'A plain gitlab token']]],
    [
      'two of it',
      [
        ['x-gitlab-token', 'a plain gitlab token'],
        ['x-gitlab-token', 'a plain gitlab token'],
      ],
    ],
    ['the secret of another webhook', [['x-gitlab-token', senders.gitlab.secret]]],
    ['it in another header', [['authorization', 'Bearer a plain gitlab token']]],
  ])('%s is refused', async (_what, headers) => {
    expect(refusalProblem(await ask(headers))).toBeUndefined()
  })
})

describe('7.2 Event Streams of twilio', () => {
  /** Sends JSON whose hash is in the signed URL. */
  async function stream(body: Uint8Array) {
    const query = `?bodySHA256=${createHash('sha256').update(body).digest('hex')}`
    const headers = await senders.twilio.sign(body, { url: urlOf('twilio') + query })
    return deliver('twilio', {
      headers: [['content-type', 'application/json'], ...Object.entries(headers)],
      body,
      query,
    })
  }
  const event = (type: string) => ({
    specversion: '1.0',
    id: 'EZ1',
    source: '/2010-04-01/Accounts/AC1',
    type,
    data: {},
  })

  it('the key is the type of the CloudEvents, and the answer is JSON', async () => {
    const answer = await stream(json([event('com.twilio.messaging.message.delivered')]))
    expect(answer.text).toBe('{"ok":true,"handled":true}')
    expect((await received('twilio', answer)).map((row) => row.event)).toEqual([
      'com.twilio.messaging.message.delivered',
    ])
  })

  it('a list of several types is a batch', async () => {
    const answer = await stream(json([event('com.twilio.a'), event('com.twilio.b')]))
    expect((await received('twilio', answer)).map((row) => row.event)).toEqual(['event_batch'])
  })

  it('what is no JSON is 400', async () => {
    expect((await stream(bytesOf('[{"type":'))).status).toBe(400)
  })
})
