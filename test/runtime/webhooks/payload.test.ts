/** 7.1, 7.2, 7.7 the body of a delivery: its payload, its event, and the id that it is known by. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type Claim } from '../../../runtime/webhooks/claim.ts'
import { parseForm } from '../../../runtime/webhooks/form.ts'
import { eventKey, field, readPayload } from '../../../runtime/webhooks/payload.ts'
import { createStore } from '../../../runtime/webhooks/store.ts'
import { eventKeyFault, presets, type Scheme, type WebhookProvider } from '../../../src/wire/webhook-schemes.ts'
import { bytes } from '../../support/claims.ts'
import { titled } from '../../support/titles.ts'

describe('7.2 which event a delivery is about', () => {
  const key = (provider: WebhookProvider, payload: unknown, headers: Record<string, string> = {}) =>
    eventKey(presets[provider].event, new Headers(headers), payload)

  it.each<[WebhookProvider, unknown, Record<string, string>, string | undefined]>([
    ['payments', { type: 'invoice.paid' }, {}, 'invoice.paid'],
    ['payments', { event: 'invoice.paid' }, {}, undefined],
    ['payments', { type: 7 }, {}, undefined],
    ['payments', { type: '' }, {}, undefined],
    ['payments', null, {}, undefined],
    ['payments', JSON.parse('{"__proto__":{"type":"x"}}'), {}, undefined],
    ['codehost', { action: 'opened' }, { 'x-codehost-event': 'issues' }, 'issues.opened'],
    ['github', {}, { 'x-github-event': 'push' }, 'push'],
    ['github', { action: 'x' }, {}, undefined],
    ['chat', { type: 'event_callback', event: { type: 'message' } }, {}, 'event_callback'],
    ['slack', { type: 'event_callback', event: { type: 'message' } }, {}, 'message'],
    ['slack', { type: 'url_verification' }, {}, 'url_verification'],
    ['slack', { command: '/deploy' }, {}, '/deploy'],
    ['sms', { EventType: 'onMessageAdded' }, {}, 'onMessageAdded'],
    ['sms', { SmsStatus: 'received' }, {}, undefined],
    ['twilio', { SmsStatus: 'received', MessageSid: 'SM1' }, {}, 'received'],
    ['twilio', { MessageStatus: 'delivered', SmsStatus: 'delivered' }, {}, 'delivered'],
    ['twilio', { CallStatus: 'ringing' }, {}, 'ringing'],
    ['twilio', { EventType: ['a', 'b'] }, {}, undefined],
    ['realtime', { event: 'room_started' }, {}, 'room_started'],
    ['realtime', { type: 'room_started' }, {}, undefined],
    ['livekit', { event: 'room_started' }, {}, 'room_started'],
    ['chatbot', { type: 1 }, {}, 'PING'],
    ['chatbot', { type: 2 }, {}, 'INTERACTION_CREATE'],
    ['chatbot', { type: 0 }, {}, 'type_0'],
    ['chatbot', { type: 5 }, {}, 'type_5'],
    ['chatbot', { type: 1.5 }, {}, undefined],
    ['chatbot', { type: '1' }, {}, undefined],
    ['chatbot', { type: 1, event: { type: 'ENTITLEMENT_CREATE' } }, {}, 'PING'],
    ['discord', { type: 1, event: { type: 'ENTITLEMENT_CREATE' } }, {}, 'ENTITLEMENT_CREATE'],
    ['discord', { type: 0 }, {}, 'PING'],
    ['discord', { type: 3 }, {}, 'type_3'],
    ['emailservice', [{ event: 'delivered' }], {}, 'event_batch'],
    ['payments', [{ type: 'invoice.paid' }], {}, undefined],
    ['twilio', [{ type: 'com.twilio.a', data: {} }], {}, 'com.twilio.a'],
    ['twilio', [{ type: 'com.twilio.a' }, { type: 'com.twilio.a' }], {}, 'com.twilio.a'],
    ['twilio', [{ type: 'com.twilio.a' }, { type: 'com.twilio.b' }], {}, 'event_batch'],
    ['twilio', [{ type: 'com.twilio.a' }, {}], {}, 'event_batch'],
    ['twilio', [], {}, undefined],
    ['shopify', { action: 'x' }, { 'x-shopify-topic': 'orders/create' }, 'orders/create'],
    ['shopify', { topic: 'orders/create' }, {}, undefined],
    ['linear', { type: 'Issue', action: 'create' }, {}, 'Issue.create'],
    ['linear', { type: 'OAuthAuthorization' }, { 'linear-event': 'Issue' }, 'OAuthAuthorization'],
    ['linear', { action: 'create' }, { 'linear-event': 'Issue' }, undefined],
    ['paddle', { event_type: 'transaction.completed', type: 'x' }, {}, 'transaction.completed'],
    ['zoom', { event: 'meeting.started', payload: {} }, {}, 'meeting.started'],
    ['zoom', { type: 'meeting.started' }, {}, undefined],
    ['meta', { object: 'page', entry: [{ changes: [{ field: 'feed' }, { field: 'feed' }] }] }, {}, 'page.feed'],
    ['meta', { object: 'page', entry: [{ changes: [{ field: 'feed' }] }, { messaging: [{}] }] }, {}, 'event_batch'],
    ['meta', { object: 'page', entry: [{ messaging: [{}], changes: 'x' }] }, {}, 'page.messaging'],
    ['meta', { object: 'page', entry: [{ standby: [{}], messaging: [] }] }, {}, 'page.standby'],
    ['meta', { object: 'user', entry: [{ changed_fields: ['photos'] }] }, {}, 'user.photos'],
    ['meta', { object: 'page', entry: [] }, {}, 'page'],
    ['meta', { entry: [{ changes: [{ field: 'feed' }] }] }, {}, undefined],
    ['meta', { object: 'page', entry: [{ changes: [{ field: 7 }, null] }, null] }, {}, 'page'],
    ['gitlab', { object_kind: 'push', event_name: 'push' }, { 'x-gitlab-event': 'Issue Hook' }, 'push'],
    ['gitlab', { object_kind: 'merge_request', object_attributes: { action: 'open' } }, {}, 'merge_request.open'],
    ['gitlab', { event_name: 'project_create', action: 'x' }, {}, 'project_create'],
    ['gitlab', {}, { 'x-gitlab-event': 'Push Hook' }, undefined],
  ])('%s %j', (provider, payload, headers, expected) => {
    expect(key(provider, payload, headers)).toBe(expected)
  })

  it.each<[WebhookProvider, string, boolean]>([
    ['sendgrid', 'event_batch', true],
    ['sendgrid', 'delivered', false],
    ['chatbot', 'type_3', true],
    ['chatbot', 'type_1', false],
    ['chatbot', 'type_0', true],
    ['chatbot', 'type_01', false],
    ['discord', 'type_0', false],
    ['chatbot', 'MESSAGE', false],
    ['discord', 'ENTITLEMENT_CREATE', true],
    ['slack', 'event_callback', false],
    ['chat', 'event_callback', true],
    ['github', 'issues.*', false],
    ['github', 'issues.opened', true],
    ['payments', '', false],
    ['meta', 'page.feed', true],
    ['meta', 'page', false],
    ['meta', 'event_batch', true],
    ['shopify', 'orders/create', true],
    ['linear', 'Issue.create', true],
  ])('a build warns of a key that can never arrive: %s %j %s', (provider, bound, isPossible) => {
    expect(eventKeyFault(presets[provider], bound) === undefined).toBe(isPossible)
  })
})

describe('7.1 how a body is read', () => {
  const read = (provider: WebhookProvider, body: string | Buffer) =>
    readPayload(presets[provider].payload, bytes(body)).value

  it.each<[WebhookProvider, string, unknown]>([
    ['payments', '{"a":1}', { a: 1 }],
    ['github', 'payload=%7B%22action%22%3A%22opened%22%7D', { action: 'opened' }],
    ['slack', 'payload=%7B%22type%22%3A%22block_actions%22%7D', { type: 'block_actions' }],
    ['slack', 'command=%2Fdeploy&text=now+please', { command: '/deploy', text: 'now please' }],
    ['twilio', 'a=1&b=2&b=3', { a: '1', b: ['2', '3'] }],
    ['twilio', '{"a":1}', { '{"a":1}': '' }],
  ])('%s %s', (provider, body, expected) => {
    expect(read(provider, body)).toEqual(expected)
  })

  it('what nothing reads arrives as bytes', () => {
    expect(read('payments', Buffer.from([0xff]))).toEqual(new Uint8Array([0xff]))
    expect(read('codehost', 'payload=%7B%7D')).toBeInstanceOf(Uint8Array)
  })

  it('a field named __proto__ is a field', () => {
    const form = parseForm(bytes('__proto__=x&constructor=y'))
    expect(Object.entries(form)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ])
  })
})

describe('a field of a body', () => {
  it.each(['constructor', '__proto__', 'toString'])('%s is one that the sender wrote, and no inherited one', (name) => {
    expect(field(JSON.parse(`{"${name}":"x"}`), name)).toBe('x')
    for (const body of [{}, [], 'text', 7, null]) expect(field(body, name)).toBeUndefined()
  })
})

describe('7.7 what a delivery is known by', () => {
  const claim: Claim = { signed: () => bytes('signed'), holds: async () => true }
  const hash = `sha256:${createHash('sha256').update('signed').digest('hex')}`

  it.each(
    titled<[string | undefined, Partial<Claim>, unknown, string]>([
      ['id', {}, { id: 'evt_1' }, 'id:evt_1'],
      ['id', {}, { id: 7 }, hash],
      ['id', {}, { id: '' }, hash],
      ['id', {}, {}, hash],
      [undefined, {}, { id: 'evt_1' }, hash],
      [undefined, { id: 'msg_1' }, { id: 'evt_1' }, 'id:msg_1'],
      ['id', {}, { id: 'a\0b' }, `id-sha256:${createHash('sha256').update('a\0b').digest('hex')}`],
      [
        'id',
        {},
        { id: 'x'.repeat(65536) },
        `id-sha256:${createHash('sha256').update('x'.repeat(65536)).digest('hex')}`,
      ],
    ]),
  )('%s', async (_title, idField, more, payload, expected) => {
    const scheme = { ...presets.payments, idField } as Scheme
    const id = await createStore().deliveryId(scheme, 'a.key', { ...claim, ...more }, payload, bytes('body'))
    expect(id).toBe(expected)
  })

  it('where the event stands in a header, two events over one body are two deliveries', async () => {
    const idOf = (key: string) => createStore().deliveryId(presets.shopify, key, claim, {}, bytes('body'))
    const ids = [await idOf('orders/create'), await idOf('orders/paid'), await idOf('orders/create')]
    expect([ids[0] === ids[2], ids[0] === ids[1], ids[0] === hash]).toEqual([true, false, false])
  })
})
