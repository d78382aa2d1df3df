/**
 * Every built-in scheme as a row over six kinds of proof: the code that verifies, signs or judges gets the row, never the
 * provider's name (contract 7.2). The neutral presets and the real providers differ in header names and habits.
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

/** The explicit `signature` block of `@Webhook`. */
export interface Signature {
  header: string
  prefix?: string
  algo: 'hmac-sha256' | 'hmac-sha1'
  encoding: 'hex' | 'base64'
  signs: string
  timestampHeader?: string
}

export interface HmacProof {
  by: 'hmac'
  hash: 'SHA-256' | 'SHA-1'
  encoding: 'hex' | 'base64'
  /** `{ts}`, `{body}`, and with an `idHeader` `{id}`, are replaced; all else is literal. */
  signs: string
  header: string
  /** The header's value is this, then the signature. */
  prefix?: string
  /** The header's value is a list of `name=value`, with a comma between; these names carry the time and the signatures. */
  parts?: { timestamp: string; signature: string; separator?: ';' }
  /** The header's value is a list of `label,signature`, parted by blanks; signatures with this label count. */
  label?: string
  timestampHeader?: string
  /** Carries the delivery's id, which is signed. */
  idHeader?: string
  /**
   * The headers above begin with the first of the two. A delivery without that signature header is read under the second
   * prefix instead, and then every header of it is.
   */
  prefixes?: readonly [string, string]
  /** The body's field with the time of sending, in milliseconds: the window is judged once the signature has held. */
  timestampField?: string
  /** How the secret is written: its text is the key, or base64 of the key, after `whsec_`. */
  secret: 'text' | 'whsec'
}

/** The URL as the sender knows it, then either the sorted form or, in the URL, the hash of the body: HMAC-SHA-1, base64. */
export interface UrlProof {
  by: 'url'
  header: string
}

/** A public key over the timestamp and the body: Ed25519 in hex, or ECDSA P-256 with SHA-256 as DER in base64. */
export interface PublicKeyProof {
  by: 'ed25519' | 'ecdsa'
  /** One that begins with `*` stands for any header that ends so. */
  header: string
  timestampHeader: string
}

/** A JWT, HS256, whose claim `sha256` is the body's hash in base64. */
export interface TokenProof {
  by: 'token'
  header: string
}

/**
 * The secret itself, in a header: it proves who sent a delivery, and says nothing of the body. With a vault entry that
 * begins with `whsec_` the sender signs instead, and the header is not looked at.
 */
export interface SecretProof {
  by: 'secret'
  header: string
  signed: HmacProof
}

export type Proof = HmacProof | UrlProof | PublicKeyProof | TokenProof | SecretProof

/** How deliveries are proven under this secret. */
export function proofUnder(proof: Proof, secret: string): Proof {
  return proof.by === 'secret' && secret.startsWith('whsec_') ? proof.signed : proof
}

/** Where the event key is read. */
export type EventSource =
  /**
   * The first of these top-level fields; where it names an envelope, the `type` of what is inside. Then `.` and the text at
   * the path `action`, where the payload has one. With `isList`, a list of events has the key of its items, or
   * `event_batch` where they differ.
   */
  | {
      from: 'fields'
      names: readonly string[]
      action?: readonly string[]
      envelope?: { type: string; inner: string }
      isList?: true
    }
  /** A header; with `hasAction`, then `.` and the payload's `action` where there is one. */
  | { from: 'header'; header: string; hasAction?: true }
  /** The field `object`, then `.` and what its entries tell of; `event_batch` where they tell of several things. */
  | { from: 'entries' }
  /** The numeric `type`; with `inner`, a field whose own `type` is the key. */
  | { from: 'number'; inner?: string }
  | { from: 'constant'; key: string }

export interface Scheme {
  proof: Proof
  /** How a body may be read, tried in this order; what none of them reads arrives as bytes. `field`: a form's `payload`. */
  payload: readonly ('json' | 'field' | 'form')[]
  event: EventSource
  /** Field of the payload that names the delivery (contract 7.7); absent: a hash of what was signed does. */
  idField?: string
  /** What the sender asks once, to see that the URL is served (contract 7.6). `subscribe` is a GET request. */
  handshake?: 'challenge' | 'ping' | 'token' | 'subscribe'
  /** The answer to a form that has no other one: JSON would be an error to the sender, or shown to a person. */
  formAnswer?: 'twiml' | 'empty'
  /** The sender reads the answer: an object that a handler returns is sent as JSON (contract 7.6). */
  isInteractive?: true
}

/** The event key of a delivery that holds several events of different kinds. */
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

/** Standard Webhooks, and Svix, whose headers differ in their prefix alone. */
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
  // its two content types are the same event
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
    // `type` is that of Event Streams, which sends lists of CloudEvents
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
    // the body, because a signature covers it and not the header `x-gitlab-event`
    event: { from: 'fields', names: ['object_kind', 'event_name'], action: ['object_attributes', 'action'] },
  },
}

/** The `signature` block that means Standard Webhooks (contract 7.3). */
export const standardWebhooks = {
  header: 'webhook-signature',
  timestampHeader: 'webhook-timestamp',
  signs: '{id}.{ts}.{body}',
  algo: 'hmac-sha256',
  encoding: 'base64',
} as const satisfies Signature

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

/** The scheme of an explicit `signature` block: its event key is the body's `type`. */
export function schemeOfBlock(signature: Signature): Scheme {
  const { algo, ...block } = signature
  const hash = algo === 'hmac-sha1' ? 'SHA-1' : 'SHA-256'
  const proof: HmacProof = isStandardWebhooks(signature)
    ? { ...standardProof, prefixes: ['webhook-', 'svix-'] }
    : { by: 'hmac', ...block, hash, secret: 'text' }
  return { proof, payload: ['json'], event: type }
}

/** @returns why no delivery can ever have this event key; `undefined` where one may. */
export function impossibleKey({ event }: Scheme, key: string): string | undefined {
  if (key === '') return 'an event key is never empty'
  if (key.includes('*')) return 'there are no wildcards: a key is matched whole'
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
