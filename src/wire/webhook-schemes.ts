/**
 * Every built-in scheme as a row over five kinds of proof: whoever verifies, signs or judges gets the row, never the
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
  /** The header's value is a list of `name=value`, parted by commas; these names carry the time and the signatures. */
  parts?: { timestamp: string; signature: string }
  /** The header's value is a list of `label,signature`, parted by blanks; signatures with this label count. */
  label?: string
  timestampHeader?: string
  /** Carries the delivery's id, which is signed. */
  idHeader?: string
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

export type Proof = HmacProof | UrlProof | PublicKeyProof | TokenProof

/** Where the event key is read. */
export type EventSource =
  /** The first of these top-level fields; where it names an envelope, the `type` of what is inside. */
  | { from: 'fields'; names: readonly string[]; envelope?: { type: string; inner: string } }
  /** A header, then `.` and the payload's `action` where there is one. */
  | { from: 'header'; header: string }
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
  /** What the sender asks once, to see that somebody listens (contract 7.6). */
  handshake?: 'challenge' | 'ping'
  /** An answer in JSON would be an error to the sender: a form is answered by an empty TwiML document. */
  repliesInTwiml?: true
}

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
    event: { from: 'header', header: eventHeader },
  }
}

function chat(header: string, timestampHeader: string): Pick<Scheme, 'proof' | 'idField'> {
  return {
    proof: { by: 'hmac', ...timed, signs: 'v0:{ts}:{body}', header, prefix: 'v0=', timestampHeader },
    idField: 'event_id',
  }
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
    event: { from: 'constant', key: 'event_batch' },
  }
}

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
  },
  sms: {
    proof: { by: 'url', header: 'x-sms-signature' },
    payload: ['form'],
    event: { from: 'fields', names: ['EventType'] },
  },
  twilio: {
    proof: { by: 'url', header: 'x-twilio-signature' },
    payload: ['form'],
    event: { from: 'fields', names: ['EventType', 'MessageStatus', 'SmsStatus', 'CallStatus', 'type'] },
    repliesInTwiml: true,
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
  discord: { ...chatbot, event: { from: 'number', inner: 'event' }, handshake: 'ping' },
  emailservice: email('*'),
  sendgrid: email('x-twilio'),
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
    ? { by: 'hmac', ...block, hash, label: 'v1', idHeader: 'webhook-id', secret: 'whsec' }
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
  }
}

const numbered = 'the keys are PING, INTERACTION_CREATE, and type_<n> for every other number'

function isNumbered(key: string, hasInner: boolean): boolean {
  const [, digits] = /^type_(0|[1-9]\d{0,14})$/.exec(key) ?? []
  return digits !== undefined && digits !== '1' && digits !== '2' && !(hasInner && digits === '0')
}
