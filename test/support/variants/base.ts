/** A variant of a delivery, and functions that make one from a correctly signed delivery. */
import { type Claim, encode, forge, type Scheme } from '../schemes.ts'
import { deliveryId, nowSeconds, type Sender } from '../senders.ts'

export interface Delivery {
  /** One line each, so that a name may come twice. */
  headers: [name: string, value: string][]
  body: Uint8Array
  /** The query that follows the path of the webhook. */
  query?: string
  /** Sends the body in chunks of this many bytes. */
  chunk?: number
}

export type Variant = [what: string, delivery: Delivery]

/** The correctly signed delivery: its claim, and its signature as it is written. */
export interface Base {
  sender: Sender
  scheme: Scheme
  claim: Claim
  signature: string
  /** Headers that do not belong to the scheme. */
  extra: Record<string, string>
}

export const bytesOf = (...parts: (string | Uint8Array)[]) =>
  new Uint8Array(Buffer.concat(parts.map((part) => Buffer.from(part as string))))

export const isForm = ({ contentType }: Sender) => contentType.includes('form')

/** @param url the address of the webhook. */
export async function baseOf(sender: Sender, url: string): Promise<Base> {
  const { scheme, secret, event } = sender
  const body = sender.body(event)
  const claim = { body, timestamp: String(nowSeconds()), id: deliveryId, url, secret }
  const signature = signatureOf(scheme, claim)
  const own = scheme.headers(signature, claim)
  const signed = Object.entries(await sender.sign(body, { url }))
  const extra = { 'content-type': sender.contentType, ...Object.fromEntries(signed.filter(([name]) => !(name in own))) }
  return { sender, scheme, claim, signature, extra }
}

export const signatureOf = (scheme: Scheme, claim: Claim, covered = scheme.covered(claim)) =>
  encode(scheme.sign(covered, claim.secret), scheme.encoding)

export const lines = (headers: Record<string, string>): Delivery['headers'] => Object.entries(headers)

/** @returns the base with another signature, written as the scheme writes one. */
export const withSignature = ({ scheme, claim, extra }: Base, signature: string): Delivery => ({
  headers: lines({ ...extra, ...scheme.headers(signature, claim) }),
  body: claim.body,
})

/** @returns the base with a changed claim, signed correctly. */
export function withClaim({ scheme, claim, extra }: Base, change: Partial<Claim>): Delivery {
  const changed = { ...claim, ...change }
  return { headers: lines({ ...extra, ...forge(scheme, changed) }), body: changed.body }
}

/** @returns a signed delivery that is sent with another body. */
export const sentAs = (base: Base, body: Uint8Array, signedBody = base.claim.body): Delivery => ({
  ...withClaim(base, { body: signedBody }),
  body,
})

/** @param change returns `undefined` to leave a header out. */
export function withHeaders(
  base: Base,
  change: (name: string, value: string) => Delivery['headers'] | undefined,
): Delivery {
  const { headers, body } = withSignature(base, base.signature)
  return { headers: headers.flatMap(([name, value]) => change(name, value) ?? []), body }
}

export const withHeader = (base: Base, header: string, ...values: string[]): Delivery =>
  withHeaders(base, (name, value) => (name === header ? values.map((other) => [name, other]) : [[name, value]]))

export const withoutHeader = ({ headers, ...delivery }: Delivery, header: string): Delivery => ({
  ...delivery,
  headers: headers.filter(([name]) => name !== header),
})

/** @returns the base with a body so much longer that its signature is a wanted one. */
export function search(base: Base, isWanted: (signature: string) => boolean): Base {
  for (let length = 0; length < 5_000; length++) {
    const claim = { ...base.claim, body: bytesOf(base.claim.body, 'x'.repeat(length)) }
    const signature = signatureOf(base.scheme, claim)
    if (isWanted(signature)) return { ...base, claim, signature }
  }
  throw new Error('no such signature was found')
}

/** The variants of one scheme, in addition to those that every scheme has. */
export interface SchemeVariants {
  hostile(base: Base): Variant[]
  legitimate(base: Base): Variant[]
}
