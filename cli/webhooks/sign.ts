/** Signs as a sender would, with the secret that the local stack verifies by: no account, no network. */
import { createHash, createHmac, createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { type HmacProof, type Proof, type PublicKeyProof, proofUnder } from '../../src/wire/webhook-schemes.ts'

export interface ToSign {
  body: Buffer
  /** Unix time in seconds. */
  at: number
  /** Of schemes that sign an id. */
  id: string
  /** As the sender was given it, with its query. */
  url: string
}

/** What a delivery is signed with: a shared secret, or the private half of the public key. */
export type SigningKey = { secret: string } | { privateKey: KeyObject }

/** @returns the headers that prove it. */
export function signDelivery(declared: Proof, key: SigningKey, delivery: ToSign): Record<string, string> {
  const proof = 'secret' in key ? proofUnder(declared, key.secret) : declared
  switch (proof.by) {
    case 'hmac':
      return signByHmac(proof, secretOf(key), delivery)
    case 'url':
      return { [proof.header]: createHmac('sha1', secretOf(key)).update(urlText(delivery)).digest('base64') }
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

function signByHmac(proof: HmacProof, secret: string, { body, at, id }: ToSign): Record<string, string> {
  const key = proof.secret === 'whsec' ? Buffer.from(secret.replace(/^(?:v1,)?whsec_/, ''), 'base64') : secret
  const hmac = createHmac(proof.hash.replace('-', '').toLowerCase(), key)
  const values: Record<string, string | Buffer> = { '{ts}': String(at), '{body}': body }
  if (proof.idHeader !== undefined) values['{id}'] = id
  for (const part of proof.signs.split(/(\{\w+\})/)) hmac.update(Object.hasOwn(values, part) ? values[part]! : part)
  const signature = hmac.digest(proof.encoding)
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

/** The URL, then the sorted form; of JSON the URL alone, which holds its hash. */
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

function signByKey(proof: PublicKeyProof, key: SigningKey, { body, at }: ToSign): Record<string, string> {
  if (!('privateKey' in key)) throw new TypeError('this scheme is signed with a private key')
  const signed = Buffer.concat([Buffer.from(String(at)), body])
  const [algorithm, encoding] = proof.by === 'ed25519' ? ([null, 'hex'] as const) : (['sha256', 'base64'] as const)
  const named = (header: string) => header.replace(/^\*/, 'x-local')
  return {
    [named(proof.header)]: sign(algorithm, signed, key.privateKey).toString(encoding),
    [named(proof.timestampHeader)]: String(at),
  }
}

export function privateKeyOf(pkcs8: string): KeyObject {
  return createPrivateKey({ key: Buffer.from(pkcs8, 'base64'), format: 'der', type: 'pkcs8' })
}
