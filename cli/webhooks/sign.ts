/** Signs a delivery as its sender would, with the secret that the local stack verifies it by. */
import { createHash, createHmac, createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { deliveryIdOf } from '../../src/wire/delivery-ids.ts'
import {
  type HmacProof,
  type Proof,
  type PublicKeyProof,
  proofUnder,
  type Scheme,
} from '../../src/wire/webhook-schemes.ts'

export interface ToSign {
  body: Buffer
  /** Unix time in seconds. */
  at: number
  /** The id of the delivery, which some schemes sign. */
  id: string
  /** The URL that the sender knows, with its query. */
  url: string
}

/** The shared secret, or the private half of the public key. */
export type SigningKey = { secret: string } | { privateKey: KeyObject }

/** @returns the headers that prove the sender. */
export function signDelivery(declared: Proof, key: SigningKey, delivery: ToSign): Record<string, string> {
  const proof = 'secret' in key ? proofUnder(declared, key.secret) : declared
  switch (proof.by) {
    case 'hmac':
      return signByHmac(proof, secretOf(key), delivery)
    case 'url':
      return {
        [proof.header]: createHmac('sha1', secretOf(key)).update(signedBytes(proof, delivery)).digest('base64'),
      }
    case 'token':
      return { [proof.header]: tokenOf(secretOf(key), delivery) }
    case 'secret':
      return { [proof.header]: secretOf(key) }
    default:
      return signByKey(proof, key, delivery)
  }
}

function secretOf(key: SigningKey): string {
  if ('secret' in key) return key.secret
  throw new TypeError('this scheme is signed with a shared secret')
}

/** @returns the bytes that a signature covers. A JWT covers their hash, and the bytes are the body. */
function signedBytes(proof: Proof, delivery: ToSign): Buffer {
  const { body, at, id } = delivery
  switch (proof.by) {
    case 'hmac': {
      const values: Record<string, string | Buffer> = { '{ts}': String(at), '{body}': body }
      if (proof.idHeader !== undefined) values['{id}'] = id
      const parts = proof.signs.split(/(\{\w+\})/)
      return Buffer.concat(parts.map((part) => Buffer.from(Object.hasOwn(values, part) ? values[part]! : part)))
    }
    case 'url':
      return Buffer.from(urlText(delivery))
    case 'token':
    case 'secret':
      return body
    default:
      return Buffer.concat([Buffer.from(String(at)), body])
  }
}

function signByHmac(proof: HmacProof, secret: string, delivery: ToSign): Record<string, string> {
  const { at, id } = delivery
  const key = proof.secret === 'whsec' ? Buffer.from(secret.replace(/^(?:v1,)?whsec_/, ''), 'base64') : secret
  const hash = proof.hash.replace('-', '').toLowerCase()
  const signature = createHmac(hash, key).update(signedBytes(proof, delivery)).digest(proof.encoding)
  const value =
    proof.parts !== undefined
      ? [`${proof.parts.timestamp}=${at}`, `${proof.parts.signature}=${signature}`].join(proof.parts.separator ?? ',')
      : proof.label !== undefined
        ? `${proof.label},${signature}`
        : `${proof.prefix ?? ''}${signature}`
  return {
    [proof.header]: value,
    ...(proof.timestampHeader === undefined ? {} : { [proof.timestampHeader]: String(at) }),
    ...(proof.idHeader === undefined ? {} : { [proof.idHeader]: id }),
  }
}

/** The URL, then the sorted fields of the form. For JSON it is the URL alone, which contains the hash of the body. */
function urlText({ url, body }: ToSign): string {
  if (/[?&]bodySHA256=/.test(url)) return url
  const fields = new Map<string, Set<string>>()
  for (const [name, value] of new URLSearchParams(body.toString('utf8'))) {
    fields.set(name, (fields.get(name) ?? new Set()).add(value))
  }
  const names = [...fields.keys()].sort()
  return (
    url +
    names
      .map((name) =>
        [...fields.get(name)!]
          .sort()
          .map((value) => name + value)
          .join(''),
      )
      .join('')
  )
}

function tokenOf(secret: string, { body, at }: ToSign): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const sha256 = createHash('sha256').update(body).digest('base64')
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ iss: 'stack', nbf: at, exp: at + 300, sha256 })}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

function signByKey(proof: PublicKeyProof, key: SigningKey, delivery: ToSign): Record<string, string> {
  if (!('privateKey' in key)) throw new TypeError('this scheme is signed with a private key')
  const signed = signedBytes(proof, delivery)
  const [algorithm, encoding] = proof.by === 'ed25519' ? ([null, 'hex'] as const) : (['sha256', 'base64'] as const)
  const named = (header: string) => header.replace(/^\*/, 'x-local')
  return {
    [named(proof.header)]: sign(algorithm, signed, key.privateKey).toString(encoding),
    [named(proof.timestampHeader)]: String(delivery.at),
  }
}

/** @param text PKCS #8, as PEM or as base64 of its DER form. @throws Error for anything else. */
export function privateKeyOf(text: string): KeyObject {
  if (text.includes('-----BEGIN ')) return createPrivateKey(text)
  return createPrivateKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'pkcs8' })
}

/** @param key of the event. @returns the id under which the runtime notes this delivery in `webhooks.seen` (contract 7.7). */
export function seenIdOf({ proof, idField, payload, event }: Scheme, key: string, delivery: ToSign): Promise<string> {
  const isSigned = proof.by === 'hmac' && proof.idHeader !== undefined
  const id = isSigned ? delivery.id : idField === undefined ? undefined : textIn(payload, delivery.body, idField)
  return deliveryIdOf(id, () => new Uint8Array(signedBytes(proof, delivery)), event.from === 'header' ? key : undefined)
}

/** @returns a text that is not empty, from the first reading of the body that succeeds. */
function textIn(readings: Scheme['payload'], body: Buffer, name: string): string | undefined {
  const text = body.toString('utf8')
  const form = new URLSearchParams(text)
  for (const reading of readings) {
    if (reading === 'form') return form.getAll(name).length === 1 ? form.get(name) || undefined : undefined
    try {
      const value: unknown = JSON.parse(reading === 'field' ? (form.get('payload') ?? '') : text)
      const found = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
      return typeof found === 'string' && found !== '' ? found : undefined
    } catch {}
  }
  return undefined
}
