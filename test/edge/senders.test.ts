/**
 * Every preset beside its provider (contract 7): what the provider's own SDK signs is accepted and handled, what differs in
 * a byte that matters is refused, over the real bundle in workerd.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { batched } from '../support/batched.ts'
import { sendRaw } from '../support/raw.ts'
import { nowSeconds, type SenderName, senderNames, senders } from '../support/senders.ts'
import { useStack } from '../support/stack.ts'
import { type Delivery, legitimate, timed, twins } from '../support/twins.ts'

const secretOf = (name: SenderName) => `${name.toUpperCase()}_SECRET`

const hooks = useStack(
  'test/edge/hooks',
  Object.fromEntries(senderNames.map((name) => [secretOf(name), senders[name].secret])),
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

/** As the provider sends it. */
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

/** One body for every refusal, whatever its reason. */
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

  it('every legitimate variant is accepted', async () => {
    const variants = await legitimate(sender, urlOf(name))
    const problems = await batched(variants, async (delivery) => {
      const { status, text } = await deliver(name, delivery)
      return status === 200 ? undefined : `${status} ${text}`
    })
    expect(problems).toEqual([])
  })

  it('every hostile twin is refused, with the one body', async () => {
    const hostile = await twins(sender, urlOf(name))
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

// a machine that is busy may miss the second
it('7.4 exactly 300 s old is accepted, 301 s is not', { retry: 5 }, async () => {
  const names = senderNames.filter((name) => senders[name].scheme.isTimed)
  // signed for a second to come, and sent when it has begun: the clock must not strike on the way
  const second = nowSeconds() + 2
  const signed = await Promise.all(
    names.flatMap((name) =>
      [300, 301].map(async (age) => [name, age, await timed(senders[name], urlOf(name), second - age)] as const),
    ),
  )
  await sleep(second * 1000 + 50 - Date.now())
  const answers = await Promise.all(
    signed.map(async ([name, age, delivery]) => [name, age, (await deliver(name, delivery)).status]),
  )
  expect(answers).toEqual(signed.map(([name, age]) => [name, age, age === 300 ? 200 : 401]))
})

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

  it.each(senderNames.filter((name) => name !== 'twilio'))(
    '%s: a handled delivery answers the table’s',
    async (name) => {
      const sender = senders[name]
      expect((await send(name, sender.body(sender.event))).text).toBe('{"ok":true,"handled":true}')
    },
  )
})
