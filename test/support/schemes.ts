/**
 * The signature schemes of `senders.ts`, taken apart and signed by node:crypto. A variant must be wrong in exactly one part,
 * and must be able to sign bytes that a provider's SDK would not sign.
 */
import { createHash, createHmac, createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

export interface Claim {
  body: Uint8Array
  /** The time as it is written: Unix seconds, unless a test forges something else. */
  timestamp: string
  /** The id of the delivery, where the scheme signs one. */
  id: string
  /** The address as it is configured at the provider, where the scheme signs it. */
  url: string
  /** The value of the vault entry: a shared secret, or a public key. */
  secret: string
}

export type Encoding = 'hex' | 'base64' | 'base64url'

export interface Scheme {
  encoding: Encoding
  /** Whether the scheme signs a time, so that a delivery of more than 300 s ago is refused. */
  isTimed: boolean
  /** The name of the header that carries the signature. */
  header: string
  timestampHeader?: string
  /** Carries the delivery's id, where the scheme signs one. */
  idHeader?: string
  /** The text before the signature. */
  prefix: string
  /** The hash of the HMAC, where the secret is a shared one. */
  hash?: 'sha256' | 'sha1'
  /** @returns the bytes that the signature covers. */
  covered(claim: Claim): Buffer
  sign(covered: Uint8Array, secret: string): Buffer
  /** @returns the headers of the scheme, with the signature as it is written. */
  headers(signature: string, claim: Claim): Record<string, string>
}

export const encode = (bytes: Uint8Array, encoding: Encoding) => Buffer.from(bytes).toString(encoding)

/** @returns the headers of a claim, signed as its scheme signs. */
export function forge(scheme: Scheme, claim: Claim): Record<string, string> {
  return scheme.headers(encode(scheme.sign(scheme.covered(claim), claim.secret), scheme.encoding), claim)
}

const join = (...parts: (string | Uint8Array)[]) => Buffer.concat(parts.map((part) => Buffer.from(part as string)))

const hmac =
  (algorithm: string): Scheme['sign'] =>
  (covered, secret) =>
    createHmac(algorithm, secret).update(covered).digest()

/** Stripe: the time and the signature are parts of one header. */
export const parts = (header: string): Scheme => ({
  encoding: 'hex',
  isTimed: true,
  header,
  prefix: 'v1=',
  covered: ({ timestamp, body }) => join(timestamp, '.', body),
  hash: 'sha256',
  sign: hmac('sha256'),
  headers: (signature, { timestamp }) => ({ [header]: `t=${timestamp},v1=${signature}` }),
})

/** Paddle: as Stripe, with other names, a semicolon between the parts, and a colon in the signed bytes. */
export const semicolons: Scheme = {
  ...parts('paddle-signature'),
  prefix: 'h1=',
  covered: ({ timestamp, body }) => join(timestamp, ':', body),
  headers: (signature, { timestamp }) => ({ 'paddle-signature': `ts=${timestamp};h1=${signature}` }),
}

/** Shopify and Linear: the body alone is signed, and the signature has no prefix. Linear has its time in the body. */
export const bare = (header: string, encoding: 'hex' | 'base64'): Scheme => ({
  encoding,
  isTimed: false,
  header,
  prefix: '',
  covered: ({ body }) => Buffer.from(body),
  hash: 'sha256',
  sign: hmac('sha256'),
  headers: (signature) => ({ [header]: signature }),
})

/** GitHub: the body alone is signed. */
export const prefixed = (header: string): Scheme => ({
  encoding: 'hex',
  isTimed: false,
  header,
  prefix: 'sha256=',
  covered: ({ body }) => Buffer.from(body),
  hash: 'sha256',
  sign: hmac('sha256'),
  headers: (signature) => ({ [header]: `sha256=${signature}` }),
})

/** Slack: a version, the time and the body are signed. */
export const versioned = (header: string, timestampHeader: string): Scheme => ({
  encoding: 'hex',
  isTimed: true,
  header,
  timestampHeader,
  prefix: 'v0=',
  covered: ({ timestamp, body }) => join('v0:', timestamp, ':', body),
  hash: 'sha256',
  sign: hmac('sha256'),
  headers: (signature, { timestamp }) => ({ [header]: `v0=${signature}`, [timestampHeader]: timestamp }),
})

/**
 * Twilio: the URL and the sorted fields of the form are signed, and a repeated field counts once. With `bodySHA256`, the URL
 * alone is signed.
 */
export const form = (header: string): Scheme => ({
  encoding: 'base64',
  isTimed: false,
  header,
  prefix: '',
  covered: ({ url, body }) => join(url, url.includes('bodySHA256=') ? '' : sortedFields(body)),
  hash: 'sha1',
  sign: hmac('sha1'),
  headers: (signature) => ({ [header]: signature }),
})

function sortedFields(body: Uint8Array): string {
  const fields = new Map<string, Set<string>>()
  for (const [name, value] of new URLSearchParams(Buffer.from(body).toString())) {
    fields.set(name, (fields.get(name) ?? new Set()).add(value))
  }
  const pairs = [...fields].sort(([one], [other]) => (one < other ? -1 : 1))
  return pairs.flatMap(([name, values]) => [...values].sort().map((value) => name + value)).join('')
}

export const bearer: Scheme = {
  encoding: 'hex',
  isTimed: false,
  header: 'authorization',
  prefix: 'Bearer ',
  covered: ({ body }) => Buffer.from(body),
  hash: 'sha256',
  sign: hmac('sha256'),
  headers: (signature) => ({ authorization: `Bearer ${signature}` }),
}

/** LiveKit: a token with the hash of the body. The tokens of its server last five minutes. */
export const token: Scheme = {
  encoding: 'base64url',
  isTimed: false,
  header: 'authorization',
  prefix: '',
  covered: ({ timestamp, body }) => Buffer.from(tokenText(claimsOf(body, Number(timestamp)))),
  hash: 'sha256',
  sign: hmac('sha256'),
  headers: (signature, claim) => ({ authorization: `${token.covered(claim)}.${signature}` }),
}

export const claimsOf = (body: Uint8Array, at: number) => ({
  iss: 'APIkey',
  nbf: at,
  exp: at + 300,
  sha256: createHash('sha256').update(body).digest('base64'),
})

/** @returns the part of a token that is signed. */
export function tokenText(claims: object, header: object = { alg: 'HS256' }): string {
  return [header, claims].map((part) => encode(join(JSON.stringify(part)), 'base64url')).join('.')
}

/** Discord: the time and the body, with Ed25519. */
export const ed25519: Scheme = {
  encoding: 'hex',
  isTimed: true,
  header: 'x-signature-ed25519',
  timestampHeader: 'x-signature-timestamp',
  prefix: '',
  covered: ({ timestamp, body }) => join(timestamp, body),
  sign: (covered, secret) => sign(null, covered, privateKey(secret)),
  headers: (signature, { timestamp }) => ({ 'x-signature-ed25519': signature, 'x-signature-timestamp': timestamp }),
}

/** SendGrid: the time and the body, with ECDSA over P-256. */
export const ecdsa = (prefix: string): Scheme => ({
  encoding: 'base64',
  isTimed: true,
  header: `${prefix}-signature`,
  timestampHeader: `${prefix}-timestamp`,
  prefix: '',
  covered: ({ timestamp, body }) => join(timestamp, body),
  sign: (covered, secret) => sign('sha256', covered, privateKey(secret)),
  headers: (signature, { timestamp }) => ({ [`${prefix}-signature`]: signature, [`${prefix}-timestamp`]: timestamp }),
})

/** Standard Webhooks, and Svix, whose headers have another prefix. */
export const listed = (prefix: string): Scheme => ({
  encoding: 'base64',
  isTimed: true,
  header: `${prefix}signature`,
  timestampHeader: `${prefix}timestamp`,
  idHeader: `${prefix}id`,
  prefix: 'v1,',
  covered: ({ id, timestamp, body }) => join(id, '.', timestamp, '.', body),
  hash: 'sha256',
  sign: (covered, secret) =>
    createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
      .update(covered)
      .digest(),
  headers: (signature, { id, timestamp }) => ({
    [`${prefix}id`]: id,
    [`${prefix}timestamp`]: timestamp,
    [`${prefix}signature`]: `v1,${signature}`,
  }),
})

export const standard = listed('webhook-')

/** The private keys by the public keys that the vault entries hold. */
const privateKeys = new Map<string, KeyObject>()

export function privateKey(publicKey: string): KeyObject {
  const key = privateKeys.get(publicKey)
  if (!key) throw new Error(`no private key for ${publicKey}`)
  return key
}

/** @returns the public key in hex, as Discord shows it. */
export function ed25519Key(): string {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const shown = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url').toString('hex')
  privateKeys.set(shown, privateKey)
  return shown
}

/** @returns the secret key as tweetnacl takes it: the seed, then the public key. */
export function ed25519SecretKey(publicKey: string): Uint8Array {
  const { d, x } = privateKey(publicKey).export({ format: 'jwk' })
  return new Uint8Array(join(Buffer.from(d!, 'base64url'), Buffer.from(x!, 'base64url')))
}

/** @returns the public key in base64 SPKI, as SendGrid shows it. */
export function ecdsaKey(): string {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const shown = publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
  privateKeys.set(shown, createPrivateKey(privateKey.export({ format: 'pem', type: 'sec1' })))
  return shown
}
