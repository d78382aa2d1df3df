/**
 * Variants of a correctly signed delivery. A hostile variant differs in one part that the scheme covers, or is written as no
 * sender writes it, and must be refused. A legitimate variant differs in a part that the scheme leaves free, and must be
 * accepted.
 */
import type { Sender } from '../senders.ts'
import {
  type Base,
  baseOf,
  bytesOf,
  type Delivery,
  isForm,
  type SchemeVariants,
  type Variant,
  withClaim,
  withHeader,
  withHeaders,
  withSignature,
} from './base.ts'
import { hostileBodies } from './bodies.ts'
import { bodyTimeVariants } from './body-time.ts'
import { ecdsaVariants } from './ecdsa.ts'
import { ed25519Variants } from './ed25519.ts'
import { formVariants } from './form.ts'
import { hostileHeaders } from './headers.ts'
import { partsVariants } from './parts.ts'
import { hostileEncodings, hostileKeys, hostilePrefixes, hostileSignatures } from './signatures.ts'
import { standardVariants } from './standard.ts'
import { hostileBoundaries, hostileTimes } from './times.ts'
import { tokenVariants } from './token.ts'

export type { Delivery } from './base.ts'

/** @returns the deliveries that must be answered 401. */
export async function hostileVariants(sender: Sender, url: string): Promise<Variant[]> {
  const base = await baseOf(sender, url)
  return [
    ...hostileBodies(base),
    ...hostileSignatures(base),
    ...hostileEncodings(base),
    ...hostileKeys(base),
    ...hostilePrefixes(base),
    ...hostileHeaders(base),
    ...(base.scheme.isTimed ? [...hostileTimes(base), ...hostileBoundaries(base)] : []),
    ...(schemeVariants(base)?.hostile(base) ?? []),
  ]
}

/** @returns the variants of the base's own scheme, where it has some. */
function schemeVariants({ scheme, sender }: Base): SchemeVariants | undefined {
  const { header, prefix } = scheme
  if (scheme.encoding === 'base64url') return tokenVariants
  if (scheme.idHeader) return standardVariants
  if (header === 'x-signature-ed25519') return ed25519Variants
  if (header.endsWith('email-event-webhook-signature')) return ecdsaVariants
  if (isForm(sender)) return formVariants
  if (header === 'linear-signature') return bodyTimeVariants
  return prefix === 'v1=' || prefix === 'h1=' ? partsVariants : undefined
}

/** The names of legitimate variants whose body is no JSON: they are genuine, but no event can be read from them. */
export const unreadable = ['a body that is no text', 'a byte order mark', 'an empty body']

/** @returns the deliveries that must be accepted. */
export async function legitimateVariants(sender: Sender, url: string): Promise<Variant[]> {
  const base = await baseOf(sender, url)
  const { scheme, claim } = base
  const { body } = claim
  const plain = withSignature(base, base.signature)
  const each = (change: (name: string, value: string) => [string, string]) =>
    withHeaders(base, (name, value) => [change(name, value)])
  const variants: Variant[] = [
    ['signed by node:crypto', plain],
    ['names in upper case', each((name, value) => [name.toUpperCase(), value])],
    ['names as titles', each((name, value) => [name.replaceAll(/\b[a-z]/g, (c) => c.toUpperCase()), value])],
    ['blanks after the values', each((name, value) => [name, `${value}  `])],
    ['a tab after the values', each((name, value) => [name, `${value}\t`])],
    ['blanks before the values', each((name, value) => [name, `   ${value}`])],
    ['other headers', { ...plain, headers: [['x-other', 'a=1'], ['cookie', 'v1=1'], ...plain.headers] }],
    ['no content type', withHeader(base, 'content-type')],
    ['the body in chunks', { ...plain, chunk: 7 }],
    ['a long body', withClaim(base, { body: bytesOf(body, ' '.repeat(200_000)) })],
  ]
  if (!isForm(sender)) {
    variants.push(
      ['a content type that says nothing', withHeader(base, 'content-type', 'application/octet-stream')],
      ['a body that is no text', withClaim(base, { body: new Uint8Array([0xfe, 0xff, 0, 0x80, 0x0d, 0x0a]) })],
      ['a byte order mark', withClaim(base, { body: bytesOf('\ufeff', body) })],
      ['CRLF', withClaim(base, { body: bytesOf(Buffer.from(body).toString().replaceAll('\n', '\r\n')) })],
      ['an empty body', withClaim(base, { body: new Uint8Array() })],
    )
  }
  if (scheme.isTimed) {
    const now = Number(claim.timestamp)
    for (const age of [-299, -1, 1, 290]) {
      variants.push([`${age} seconds old`, withClaim(base, { timestamp: String(now - age) })])
    }
  }
  return [...variants, ...(schemeVariants(base)?.legitimate(base) ?? [])]
}

/** @returns a delivery that is signed for the given Unix time in seconds. */
export async function signedAt(sender: Sender, url: string, timestamp: number): Promise<Delivery> {
  const base = await baseOf(sender, url)
  if (base.scheme.header !== 'linear-signature') return withClaim(base, { timestamp: String(timestamp) })
  const sent = JSON.parse(Buffer.from(base.claim.body).toString())
  return withClaim(base, { body: bytesOf(JSON.stringify({ ...sent, webhookTimestamp: timestamp * 1000 })) })
}
