/**
 * The providers as senders. The provider's own SDK signs a delivery wherever one exists, and its verifier can check the
 * delivery. The neutral presets send the same under neutral header names.
 */
import { createHash } from 'node:crypto'
import '@shopify/shopify-api/adapters/web-api'
import { LinearWebhookClient } from '@linear/sdk/webhooks'
import { sign as signGithub, verify as verifyGithub } from '@octokit/webhooks-methods'
import { Paddle } from '@paddle/paddle-node-sdk'
import { EventWebhook } from '@sendgrid/eventwebhook'
import { ApiVersion, shopifyApi } from '@shopify/shopify-api'
import { verifyKey } from 'discord-interactions'
import { AccessToken, WebhookReceiver } from 'livekit-server-sdk'
import { Webhook } from 'standardwebhooks'
import { Ecdsa, PrivateKey } from 'starkbank-ecdsa'
import Stripe from 'stripe'
import { Webhook as SvixWebhook } from 'svix'
import nacl from 'tweetnacl'
import { getExpectedTwilioSignature, validateRequest, validateRequestWithBody } from 'twilio/lib/webhooks/webhooks.js'
import {
  bare,
  bearer,
  ecdsa,
  ecdsaKey,
  ed25519,
  ed25519Key,
  ed25519SecretKey,
  forge,
  form,
  listed,
  parts,
  prefixed,
  privateKey,
  type Scheme,
  semicolons,
  standard,
  token,
  versioned,
} from './schemes.ts'

interface SignOptions {
  /** Unix time in seconds. Defaults to now. */
  at?: number
  /** The address as it is configured at the provider. Only twilio signs it. */
  url?: string
  secret?: string
  /** The event key. Only codehost and github name it in a header. */
  event?: string
}

interface Signed {
  headers: Record<string, string>
  body: Uint8Array
  url: string
}

export interface Sender {
  scheme: Scheme
  /** The value of the vault entry: a shared secret, or a public key. */
  secret: string
  otherSecret: string
  /** An event key of this provider. */
  event: string
  contentType: string
  /** @returns the body that the provider sends for this event. */
  body(event: string): Uint8Array
  /** @returns the headers of the delivery. */
  sign(body: Uint8Array, options?: SignOptions): Promise<Record<string, string>>
  /** The provider's own verifier, where one exists. */
  verify?(delivery: Signed, secret?: string): Promise<boolean>
}

export const nowSeconds = () => Math.floor(Date.now() / 1000)

export const deliveryId = 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W'

/** Text that a body must survive: letters beyond ASCII, line feeds, and placeholders of templates and replacements. */
const text = 'Zażółć 🚀 {ts} {body} {id} $& $1 %s\n"quoted"'

const bytesOf = (value: string) => new Uint8Array(Buffer.from(value))
const json = (value: unknown) => bytesOf(`${JSON.stringify(value, undefined, 1)}\n`)
const encodedForm = (fields: Record<string, string>) => bytesOf(new URLSearchParams(fields).toString())

/** @returns `undefined` for bytes that are no text: most SDKs decode the body, and would sign other bytes. */
function textOf(body: Uint8Array): string | undefined {
  const decoded = Buffer.from(body).toString()
  return Buffer.from(decoded).equals(Buffer.from(body)) ? decoded : undefined
}

const stripe = new Stripe('sk_test_unused')

/** @param signer signs with the SDK, where the body is text. Any other body is signed by node:crypto in the same scheme. */
async function signed(
  { scheme, secret }: Pick<Sender, 'scheme' | 'secret'>,
  body: Uint8Array,
  { at = nowSeconds(), url = '', secret: chosen = secret }: SignOptions,
  signer?: (payload: string, secret: string, at: number) => Promise<Record<string, string>> | Record<string, string>,
): Promise<Record<string, string>> {
  const payload = textOf(body)
  if (signer && payload) return signer(payload, chosen, at)
  return forge(scheme, { body, timestamp: String(at), id: deliveryId, url, secret: chosen })
}

/** @returns whether the SDK's verifier accepts. A verifier that throws refuses. */
async function holds(check: () => unknown): Promise<boolean> {
  try {
    return (await check()) !== false
  } catch {
    return false
  }
}

function likeStripe(header: string, secret: string, event: string): Sender {
  const scheme = parts(header)
  return {
    scheme,
    secret,
    otherSecret: `${secret}_other`,
    event,
    contentType: 'application/json; charset=utf-8',
    body: (type) => json({ id: 'evt_1QK', object: 'event', type, data: { object: { id: 'in_1', description: text } } }),
    sign: (body, options = {}) =>
      signed({ scheme, secret }, body, options, (payload, chosen, timestamp) => ({
        [header]: stripe.webhooks.generateTestHeaderString({ payload, secret: chosen, timestamp }),
      })),
    verify: ({ headers, body }, chosen = secret) =>
      holds(() => stripe.webhooks.constructEvent(Buffer.from(body), headers[header]!, chosen)),
  }
}

function likeGithub(header: string, eventHeader: string, secret: string): Sender {
  const scheme = prefixed(header)
  const event = 'issues.opened'
  return {
    scheme,
    secret,
    otherSecret: 'Everybody knows this one',
    event,
    contentType: 'application/json',
    body: (key) => json({ action: key.split('.')[1], issue: { number: 7, title: text }, sender: { login: 'octocat' } }),
    sign: async (body, options = {}) => ({
      [eventHeader]: (options.event ?? event).split('.')[0]!,
      ...(await signed({ scheme, secret }, body, options, async (payload, chosen) => ({
        [header]: await signGithub(chosen, payload),
      }))),
    }),
    verify: ({ headers, body }, chosen = secret) =>
      holds(() => verifyGithub(chosen, Buffer.from(body).toString(), headers[header]!)),
  }
}

/** Signs with node:crypto: Slack, Zoom and Meta publish no signer and no verifier of a bare delivery. */
function bySender(scheme: Scheme, secret: string, event: string, body: Sender['body']): Sender {
  return {
    scheme,
    secret,
    otherSecret: 'e6b19c573432dcc6b075501d51b51bb8',
    event,
    contentType: 'application/json',
    body,
    sign: (sent, options = {}) => signed({ scheme, secret }, sent, options),
  }
}

function likeTwilio(header: string, event: string, eventField: string): Sender {
  const scheme = form(header)
  const secret = '12345'
  return {
    scheme,
    secret,
    otherSecret: '54321',
    event,
    contentType: 'application/x-www-form-urlencoded; charset=UTF-8',
    body: (key) =>
      encodedForm({ [eventField]: key, MessageSid: 'SM2', From: '+1 555', Empty: '', 'a.b': '=&+%20', Zero: text }),
    sign: async (body, { url = '', secret: chosen = secret } = {}) => ({
      [header]: getExpectedTwilioSignature(chosen, url, isHashed(url) ? {} : fieldsOf(body)),
    }),
    verify: ({ headers, body, url }, chosen = secret) =>
      holds(() =>
        isHashed(url)
          ? validateRequestWithBody(chosen, headers[header]!, url, Buffer.from(body).toString())
          : validateRequest(chosen, headers[header]!, url, fieldsOf(body)),
      ),
  }
}

const isHashed = (url: string) => url.includes('bodySHA256=')

/** @returns the fields as a form parser hands them to Twilio's SDK. */
function fieldsOf(body: Uint8Array): Record<string, string | string[]> {
  const fields = new URLSearchParams(Buffer.from(body).toString())
  return Object.fromEntries(
    [...new Set(fields.keys())].map((name) => {
      const [value, ...others] = fields.getAll(name)
      return [name, others.length === 0 ? value! : [value!, ...others]]
    }),
  )
}

const roomEvent = (event: string) =>
  json({ event, room: { sid: 'RM_1', name: text }, id: 'EV_1', createdAt: '1700000000' })

/** A scheme that no provider sends, so node:crypto signs it. */
const realtime: Sender = {
  scheme: bearer,
  secret: 'realtime secret',
  otherSecret: 'another realtime secret',
  event: 'room_started',
  contentType: 'application/json',
  body: roomEvent,
  sign: (body, options = {}) => signed(realtime, body, options),
}

const livekit: Sender = {
  scheme: token,
  secret: 'livekit-api-secret-of-32-bytes-or-more',
  otherSecret: 'another-livekit-secret-of-32-bytes-or-more',
  event: 'room_started',
  contentType: 'application/webhook+json',
  body: roomEvent,
  sign: async (body, options = {}) => {
    // The SDK's token begins now. For any other time node:crypto signs.
    if (options.at !== undefined) return signed(livekit, body, options)
    const made = new AccessToken('APIkey', options.secret ?? livekit.secret, { ttl: '5m' })
    made.sha256 = createHash('sha256').update(body).digest('base64')
    return { authorization: await made.toJwt() }
  },
  verify: ({ headers, body }, secret = livekit.secret) =>
    holds(() => new WebhookReceiver('APIkey', secret).receive(Buffer.from(body).toString(), headers['authorization'])),
}

const interactionTypes: Record<string, number> = { PING: 1, INTERACTION_CREATE: 2 }

function likeDiscord(): Sender {
  const secret = ed25519Key()
  return {
    scheme: ed25519,
    secret,
    otherSecret: ed25519Key(),
    event: 'INTERACTION_CREATE',
    contentType: 'application/json',
    body: (key) =>
      json({ type: interactionTypes[key] ?? Number(key.replace('type_', '')), id: '7867', data: { name: text } }),
    sign: async (body, { at = nowSeconds(), secret: chosen = secret } = {}) => {
      const claim = { body, timestamp: String(at), id: '', url: '', secret: chosen }
      const covered = new Uint8Array(ed25519.covered(claim))
      const signature = nacl.sign.detached(covered, ed25519SecretKey(chosen))
      return ed25519.headers(Buffer.from(signature).toString('hex'), claim)
    },
    verify: ({ headers, body }, chosen = secret) =>
      holds(() => verifyKey(body, headers[ed25519.header]!, headers[ed25519.timestampHeader!]!, chosen)),
  }
}

function likeSendgrid(prefix: string): Sender {
  const scheme = ecdsa(prefix)
  const secret = ecdsaKey()
  const verifier = new EventWebhook()
  return {
    scheme,
    secret,
    otherSecret: ecdsaKey(),
    event: 'event_batch',
    contentType: 'application/json',
    // SendGrid ends every event with CRLF, the last one too. A parser drops that line end, but the signature covers it.
    body: () =>
      bytesOf(
        `[${['processed', 'bounce'].map((event) => JSON.stringify({ email: 'a@example.com', event, reason: text })).join(',\r\n')}]\r\n`,
      ),
    sign: async (body, { at = nowSeconds(), secret: chosen = secret } = {}) => {
      const claim = { body, timestamp: String(at), id: '', url: '', secret: chosen }
      const key = PrivateKey.fromPem(privateKey(chosen).export({ format: 'pem', type: 'sec1' }).toString())
      return scheme.headers(Ecdsa.sign(scheme.covered(claim), key).toBase64(), claim)
    },
    verify: ({ headers, body }, chosen = secret) =>
      holds(() =>
        verifier.verifySignature(
          verifier.convertPublicKeyToECDSA(chosen),
          Buffer.from(body),
          headers[scheme.header]!,
          headers[scheme.timestampHeader!]!,
        ),
      ),
  }
}

function likeStandard(scheme: Scheme, secret: string, event: string, body: Sender['body']): Sender {
  const { header, idHeader = '', timestampHeader = '' } = scheme
  // Svix's own library reads both names of the headers.
  const Library = header.startsWith('svix-') ? SvixWebhook : Webhook
  return {
    scheme,
    secret,
    otherSecret: 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    event,
    contentType: 'application/json',
    body,
    sign: (sent, options = {}) =>
      signed({ scheme, secret }, sent, options, (payload, chosen, at) => ({
        [idHeader]: deliveryId,
        [timestampHeader]: String(at),
        [header]: new Library(chosen).sign(deliveryId, new Date(at * 1000), payload),
      })),
    verify: ({ headers, body: received }, chosen = secret) =>
      holds(() => new Library(chosen).verify(Buffer.from(received), headers) !== false),
  }
}

const standardEvent = (type: string) => json({ type, timestamp: '2026-01-01T00:00:00Z', data: { note: text } })
const standardSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

const gitlabEvent = (key: string) => {
  const [kind, action] = key.split('.')
  return json({ object_kind: kind, event_type: kind, object_attributes: { title: text, action } })
}

/** Headers that Shopify's library requires beside the signature. The topic names the event. */
const shopifyHeaders = {
  'x-shopify-shop-domain': 'shop.myshopify.com',
  'x-shopify-api-version': '2026-01',
  'x-shopify-webhook-id': 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043',
}

function shopifySender(): Sender {
  const scheme = bare('x-shopify-hmac-sha256', 'base64')
  const secret = 'shpss_0123456789abcdef'
  const event = 'orders/create'
  return {
    ...bySender(scheme, secret, event, () => json({ id: 820982911946154500, note: text })),
    sign: async (body, options = {}) => ({
      ...shopifyHeaders,
      'x-shopify-topic': options.event ?? event,
      ...(await signed({ scheme, secret }, body, options)),
    }),
    verify: ({ headers, body }, chosen = secret) =>
      holds(async () => {
        const { webhooks } = shopifyApi({
          apiKey: 'key',
          apiSecretKey: chosen,
          hostName: 'shop.example',
          apiVersion: ApiVersion.January26,
          isEmbeddedApp: false,
          logger: { log: async () => {} },
        })
        const whole = { ...shopifyHeaders, 'x-shopify-topic': event, ...headers }
        const rawRequest = new Request('https://shop.example/', { method: 'POST', headers: whole })
        const { valid } = await webhooks.validate({ rawBody: Buffer.from(body).toString(), rawRequest })
        return valid
      }),
  }
}

function linearSender(): Sender {
  const secret = 'lin_wh_0123456789abcdef'
  const linear = (key: string) => {
    const [type, action] = key.split('.')
    return json({ action, type, data: { title: text }, webhookTimestamp: Date.now(), webhookId: 'w1' })
  }
  return {
    ...bySender(bare('linear-signature', 'hex'), secret, 'Issue.create', linear),
    verify: ({ headers, body }, chosen = secret) =>
      holds(() => new LinearWebhookClient(chosen).verify(Buffer.from(body), headers['linear-signature']!)),
  }
}

function paddleSender(): Sender {
  const secret = 'pdl_ntfset_0123456789abcdef'
  const body = (type: string) => json({ event_id: 'evt_1', event_type: type, data: { note: text } })
  return {
    ...bySender(semicolons, secret, 'transaction.completed', body),
    verify: ({ headers, body: sent }, chosen = secret) =>
      holds(() =>
        new Paddle('unused').webhooks.isSignatureValid(
          Buffer.from(sent).toString(),
          chosen,
          headers['paddle-signature']!,
        ),
      ),
  }
}

const slackEvent = (type: string) =>
  json({ token: 'x', team_id: 'T1', type: 'event_callback', event_id: 'Ev1', event: { type, text } })

export const senders = {
  payments: likeStripe('x-payments-signature', 'payments secret', 'payment.succeeded'),
  stripe: likeStripe('stripe-signature', 'whsec_stripe_secret', 'invoice.paid'),
  codehost: likeGithub('x-codehost-signature-256', 'x-codehost-event', 'codehost secret'),
  github: likeGithub('x-hub-signature-256', 'x-github-event', "It's a Secret to Everybody"),
  chat: bySender(versioned('x-chat-signature', 'x-chat-request-timestamp'), 'chat secret', 'app_mention', (type) =>
    json({ type, text }),
  ),
  slack: bySender(
    versioned('x-slack-signature', 'x-slack-request-timestamp'),
    '8f742231b10e8888abcd99yyyzzz85a5',
    'app_mention',
    slackEvent,
  ),
  sms: likeTwilio('x-sms-signature', 'onMessageAdded', 'EventType'),
  twilio: likeTwilio('x-twilio-signature', 'delivered', 'MessageStatus'),
  realtime,
  livekit,
  chatbot: likeDiscord(),
  discord: likeDiscord(),
  emailservice: likeSendgrid('x-emailservice-email-event-webhook'),
  sendgrid: likeSendgrid('x-twilio-email-event-webhook'),
  shopify: shopifySender(),
  linear: linearSender(),
  paddle: paddleSender(),
  zoom: bySender(
    versioned('x-zm-signature', 'x-zm-request-timestamp'),
    'zoom secret token',
    'meeting.started',
    (event) => json({ event, event_ts: 1_700_000_000_000, payload: { object: { topic: text } } }),
  ),
  meta: bySender(prefixed('x-hub-signature-256'), 'meta app secret', 'page.feed', (key) => {
    const [object, field] = key.split('.')
    return json({ object, entry: [{ id: '1', time: 1_700_000_000, changes: [{ field, value: { message: text } }] }] })
  }),
  gitlab: likeStandard(standard, standardSecret, 'issue.open', gitlabEvent),
  standard: likeStandard(standard, standardSecret, 'invoice.paid', standardEvent),
  svix: likeStandard(listed('svix-'), standardSecret, 'invoice.paid', standardEvent),
} satisfies Record<string, Sender>

export type SenderName = keyof typeof senders

export const senderNames = Object.keys(senders) as SenderName[]
