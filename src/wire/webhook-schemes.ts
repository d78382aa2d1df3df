/**
 * The closed list of webhook providers, and the scheme of each as one row (contract 7.2). The code that verifies, signs or
 * checks a delivery receives the row and never the provider's name. A new provider is a name and a row in this file.
 */

/** The values that `provider` of `@Webhook` accepts. */
export const webhookProviders = [
  'payments',
  'codehost',
  'chat',
  'sms',
  'realtime',
  'chatbot',
  'emailservice',
  'stripe',
  'github',
  'slack',
  'twilio',
  'discord',
  'sendgrid',
  'livekit',
  'shopify',
  'linear',
  'paddle',
  'zoom',
  'meta',
  'gitlab',
] as const

export type WebhookProvider = (typeof webhookProviders)[number]

/** The explicit `signature` block of `@Webhook`. `SignatureSpec` of the SDK documents each field. */
export interface Signature {
  header: string
  prefix?: string
  algo: 'hmac-sha256' | 'hmac-sha1'
  encoding: 'hex' | 'base64'
  signs: string
  timestampHeader?: string
}

/** An HMAC over the body, and where the scheme says so over a time and an id. */
export interface HmacProof {
  by: 'hmac'
  hash: 'SHA-256' | 'SHA-1'
  encoding: 'hex' | 'base64'
  /** The signed text. `{ts}`, `{body}` and, with an `idHeader`, `{id}` are replaced. Everything else is literal. */
  signs: string
  header: string
  /** Stands before the signature in the header's value. */
  prefix?: string
  /** The header's value is a list of `name=value` with commas between. These names carry the time and the signatures. */
  parts?: { timestamp: string; signature: string; separator?: ';' }
  /** The header's value is a list of `label,signature` with blanks between. Only signatures with this label count. */
  label?: string
  timestampHeader?: string
  /** The header that carries the delivery's id, which is signed. */
  idHeader?: string
  /**
   * The headers above begin with the first prefix. Where a delivery lacks that signature header, all headers are read under
   * the second prefix.
   */
  prefixes?: readonly [string, string]
  /** The body's field with the time of sending in milliseconds. The window is checked after the signature. */
  timestampField?: string
  /** `text`: the secret's text is the key. `whsec`: the key follows `whsec_` in base64. */
  secret: 'text' | 'whsec'
}

/** HMAC-SHA-1 in base64 over the URL that the sender calls, then the sorted form. The URL may carry a hash of the body instead. */
export interface UrlProof {
  by: 'url'
  header: string
}

/** A signature over the time and the body: Ed25519 in hex, or ECDSA P-256 with SHA-256 as DER in base64. */
export interface PublicKeyProof {
  by: 'ed25519' | 'ecdsa'
  /** A name that begins with `*` stands for every header that ends with the rest. */
  header: string
  timestampHeader: string
}

/** A JWT with HS256 whose claim `sha256` is the body's hash in base64. */
export interface TokenProof {
  by: 'token'
  header: string
}

/**
 * The secret itself in a header. It proves the sender and does not cover the body. Where the vault's entry begins with
 * `whsec_`, the sender signs instead and the header is ignored.
 */
export interface SecretProof {
  by: 'secret'
  header: string
  signed: HmacProof
}

export type Proof = HmacProof | UrlProof | PublicKeyProof | TokenProof | SecretProof

/** @returns the proof of deliveries that are made with this secret. */
export function proofUnder(proof: Proof, secret: string): Proof {
  return proof.by === 'secret' && secret.startsWith('whsec_') ? proof.signed : proof
}

/** The place of the event key in a delivery. */
export type EventSource =
  /**
   * The first of these top-level fields that is there, then `.` and the text at the path `action` if the payload has one.
   * Where the field names an `envelope`, the key is the `type` of the event inside it. With `isList`, a list of events has
   * the key of its items, or `event_batch` where the items differ.
   */
  | {
      from: 'fields'
      names: readonly string[]
      action?: readonly string[]
      envelope?: { type: string; inner: string }
      isList?: true
    }
  /** A header. With `hasAction`, `.` and the payload's `action` follow where there is one. */
  | { from: 'header'; header: string; hasAction?: true }
  /** The field `object`, then `.` and the field that its entries changed, or `event_batch` where these differ. */
  | { from: 'entries' }
  /** The numeric `type`. With `inner`, that field may hold an event whose own `type` is the key. */
  | { from: 'number'; inner?: string }
  | { from: 'constant'; key: string }

export interface Scheme {
  proof: Proof
  /** Ways to parse a body, tried in this order. A body that none of them parses arrives as bytes. `field` is a form's `payload`. */
  payload: readonly ('json' | 'field' | 'form')[]
  event: EventSource
  /** Field of the payload that identifies the delivery (contract 7.7). Default: a hash of the signed bytes. */
  idField?: string
  /** The request by which the provider checks once that the URL is served (contract 7.6). `subscribe` is a GET request. */
  handshake?: 'challenge' | 'ping' | 'token' | 'subscribe'
  /** The default answer to a form: the sender would refuse JSON, or show it to a person. */
  formAnswer?: 'twiml' | 'empty'
  /** The sender reads the answer, so an object that a handler returns is sent as JSON (contract 7.6). */
  isInteractive?: true
}

/** The event key of a delivery that holds events of several kinds. */
export const batchKey = 'event_batch'

const type = { from: 'fields', names: ['type'] } as const

const timed = { hash: 'SHA-256', encoding: 'hex', secret: 'text' } as const

function payments(header: string): Scheme {
  const parts = { timestamp: 't', signature: 'v1' }
  return {
    proof: { by: 'hmac', ...timed, signs: '{ts}.{body}', header, parts },
    payload: ['json'],
    event: type,
    idField: 'id',
  }
}

function codehost(header: string, eventHeader: string): Pick<Scheme, 'proof' | 'event'> {
  return {
    proof: { by: 'hmac', ...timed, signs: '{body}', header, prefix: 'sha256=' },
    event: { from: 'header', header: eventHeader, hasAction: true },
  }
}

function versioned(header: string, timestampHeader: string): Pick<Scheme, 'proof'> {
  return { proof: { by: 'hmac', ...timed, signs: 'v0:{ts}:{body}', header, prefix: 'v0=', timestampHeader } }
}

function chat(header: string, timestampHeader: string): Pick<Scheme, 'proof' | 'idField'> {
  return { ...versioned(header, timestampHeader), idField: 'event_id' }
}

const chatbot = {
  proof: { by: 'ed25519', header: 'x-signature-ed25519', timestampHeader: 'x-signature-timestamp' },
  payload: ['json'],
  event: { from: 'number' },
  idField: 'id',
} as const satisfies Scheme

function email(prefix: string): Scheme {
  const header = `${prefix}-email-event-webhook-signature`
  const timestampHeader = `${prefix}-email-event-webhook-timestamp`
  return {
    proof: { by: 'ecdsa', header, timestampHeader },
    payload: ['json'],
    event: { from: 'constant', key: batchKey },
  }
}

/** Standard Webhooks and Svix. Their headers differ in the prefix only. */
const standardProof = {
  by: 'hmac',
  hash: 'SHA-256',
  encoding: 'base64',
  signs: '{id}.{ts}.{body}',
  header: 'webhook-signature',
  timestampHeader: 'webhook-timestamp',
  idHeader: 'webhook-id',
  label: 'v1',
  secret: 'whsec',
} as const satisfies HmacProof

export const presets: Record<WebhookProvider, Scheme> = {
  payments: payments('x-payments-signature'),
  stripe: payments('stripe-signature'),
  codehost: { ...codehost('x-codehost-signature-256', 'x-codehost-event'), payload: ['json'] },
  // GitHub sends the same event as JSON or as a form, by a setting of the hook
  github: { ...codehost('x-hub-signature-256', 'x-github-event'), payload: ['json', 'field'] },
  chat: { ...chat('x-chat-signature', 'x-chat-request-timestamp'), payload: ['json'], event: type },
  slack: {
    ...chat('x-slack-signature', 'x-slack-request-timestamp'),
    payload: ['json', 'field', 'form'],
    event: { from: 'fields', names: ['type', 'command'], envelope: { type: 'event_callback', inner: 'event' } },
    handshake: 'challenge',
    formAnswer: 'empty',
    isInteractive: true,
  },
  sms: {
    proof: { by: 'url', header: 'x-sms-signature' },
    payload: ['form'],
    event: { from: 'fields', names: ['EventType'] },
  },
  twilio: {
    proof: { by: 'url', header: 'x-twilio-signature' },
    payload: ['form'],
    // Event Streams sends lists of CloudEvents, whose key is `type`
    event: { from: 'fields', names: ['EventType', 'MessageStatus', 'SmsStatus', 'CallStatus', 'type'], isList: true },
    formAnswer: 'twiml',
    isInteractive: true,
  },
  realtime: {
    proof: { by: 'hmac', ...timed, signs: '{body}', header: 'authorization', prefix: 'Bearer ' },
    payload: ['json'],
    event: { from: 'fields', names: ['event'] },
  },
  livekit: {
    proof: { by: 'token', header: 'authorization' },
    payload: ['json'],
    event: { from: 'fields', names: ['event'] },
    idField: 'id',
  },
  chatbot,
  discord: { ...chatbot, event: { from: 'number', inner: 'event' }, handshake: 'ping', isInteractive: true },
  emailservice: email('*'),
  sendgrid: email('x-twilio'),
  shopify: {
    proof: {
      by: 'hmac',
      hash: 'SHA-256',
      encoding: 'base64',
      secret: 'text',
      signs: '{body}',
      header: 'x-shopify-hmac-sha256',
    },
    payload: ['json'],
    event: { from: 'header', header: 'x-shopify-topic' },
  },
  linear: {
    proof: { by: 'hmac', ...timed, signs: '{body}', header: 'linear-signature', timestampField: 'webhookTimestamp' },
    payload: ['json'],
    event: { from: 'fields', names: ['type'], action: ['action'] },
  },
  paddle: {
    proof: {
      by: 'hmac',
      ...timed,
      signs: '{ts}:{body}',
      header: 'paddle-signature',
      parts: { timestamp: 'ts', signature: 'h1', separator: ';' },
    },
    payload: ['json'],
    event: { from: 'fields', names: ['event_type'] },
    idField: 'event_id',
  },
  zoom: {
    ...versioned('x-zm-signature', 'x-zm-request-timestamp'),
    payload: ['json'],
    event: { from: 'fields', names: ['event'] },
    handshake: 'token',
    isInteractive: true,
  },
  meta: {
    proof: { by: 'hmac', ...timed, signs: '{body}', header: 'x-hub-signature-256', prefix: 'sha256=' },
    payload: ['json'],
    event: { from: 'entries' },
    handshake: 'subscribe',
    isInteractive: true,
  },
  gitlab: {
    proof: { by: 'secret', header: 'x-gitlab-token', signed: standardProof },
    payload: ['json'],
    // a signature covers the body and not the header `x-gitlab-event`
    event: { from: 'fields', names: ['object_kind', 'event_name'], action: ['object_attributes', 'action'] },
  },
}

/**
 * The `signature` block of Standard Webhooks (contract 7.3): HMAC-SHA-256 over id, time and body. The secret is base64 after
 * `whsec_`. Deliveries with the header prefix `svix-` are verified too.
 *
 * @example
 * ```ts
 * @Webhook({ name: 'billing', signature: standardWebhooks, secret: { env: 'BILLING_SECRET' } })
 * export class BillingWebhook {
 *   @On('invoice.paid')
 *   async paid(invoice: { id: string }) {
 *     Log.info('paid', { invoice: invoice.id })
 *   }
 * }
 * ```
 */
export const standardWebhooks = {
  header: 'webhook-signature',
  timestampHeader: 'webhook-timestamp',
  signs: '{id}.{ts}.{body}',
  algo: 'hmac-sha256',
  encoding: 'base64',
} as const satisfies Signature

/** Whether a block is the one of Standard Webhooks. Names of headers have no case. */
export function isStandardWebhooks({ header, timestampHeader, signs, algo, encoding, prefix }: Signature): boolean {
  return (
    prefix === undefined &&
    header.toLowerCase() === standardWebhooks.header &&
    timestampHeader?.toLowerCase() === standardWebhooks.timestampHeader &&
    signs === standardWebhooks.signs &&
    algo === standardWebhooks.algo &&
    encoding === standardWebhooks.encoding
  )
}

/** @returns the scheme of an explicit `signature` block. Its event key is the body's `type`. */
export function schemeOfBlock(signature: Signature): Scheme {
  const { algo, ...block } = signature
  const hash = algo === 'hmac-sha1' ? 'SHA-1' : 'SHA-256'
  const proof: HmacProof = isStandardWebhooks(signature)
    ? { ...standardProof, prefixes: ['webhook-', 'svix-'] }
    : { by: 'hmac', ...block, hash, secret: 'text' }
  return { proof, payload: ['json'], event: type }
}

/** @returns the reason why no delivery can have this event key, or `undefined` where one may have it. */
export function eventKeyFault({ event }: Scheme, key: string): string | undefined {
  if (key === '') return 'an event key is never empty'
  if (key.includes('*')) return 'there are no wildcards: the whole key is compared'
  switch (event.from) {
    case 'constant':
      return key === event.key ? undefined : `every delivery arrives as "${event.key}"`
    case 'number': {
      if (key === 'PING' || key === 'INTERACTION_CREATE' || isNumbered(key, event.inner !== undefined)) return undefined
      if (event.inner !== undefined) return key.startsWith('type_') ? numbered : undefined
      return numbered
    }
    case 'header':
      return /^[!-~]+$/.test(key) && !key.startsWith('.') ? undefined : 'the key is the value of a header'
    case 'fields':
      return key === event.envelope?.type ? 'the key is the type of the event inside the envelope' : undefined
    case 'entries':
      return key === batchKey || /^[^.]+\../.test(key) ? undefined : 'the key is the object, a dot and the field'
  }
}

const numbered = 'the keys are PING, INTERACTION_CREATE, and type_<n> for every other number'

function isNumbered(key: string, hasInner: boolean): boolean {
  const [, digits] = /^type_(0|[1-9]\d{0,14})$/.exec(key) ?? []
  return digits !== undefined && digits !== '1' && digits !== '2' && !(hasInner && digits === '0')
}
