/** Reads what the headers of a delivery claim, with every kind of proof, as plain data. */
import { type Arrival, type Readers, readClaim as readBy } from '../../runtime/webhooks/claim.ts'
import { readHmac } from '../../runtime/webhooks/proofs/hmac.ts'
import { readPublicKey } from '../../runtime/webhooks/proofs/public-key.ts'
import { readSecret } from '../../runtime/webhooks/proofs/secret.ts'
import { readToken } from '../../runtime/webhooks/proofs/token.ts'
import { readUrl } from '../../runtime/webhooks/proofs/url.ts'
import { secretKey } from '../../runtime/webhooks/secret.ts'
import { type Proof, schemeOfBlock, standardWebhooks } from '../../src/wire/webhook-schemes.ts'

/** Unix time in seconds at which every delivery of these tests arrives. */
export const now = 1_700_000_000

export const standard = schemeOfBlock(standardWebhooks)

export const readers = {
  hmac: readHmac,
  url: readUrl,
  token: readToken,
  ed25519: readPublicKey,
  ecdsa: readPublicKey,
  secret: readSecret,
}

export const readClaim = (proof: Proof, arrival: Arrival) => readBy(readers satisfies Readers, proof, arrival)

export const bytes = (text: string | Buffer) => new Uint8Array(Buffer.from(text as string))

const at = (headers: Record<string, string>, urls: string[] = []): Arrival => ({
  headers: new Headers(headers),
  urls,
  now,
})

export const claimed = (proof: Proof, headers: Record<string, string>, urls?: string[]) =>
  readClaim(proof, at(headers, urls))

export const reasonOf = (proof: Proof, headers: Record<string, string>, urls?: string[]) => {
  const claim = claimed(proof, headers, urls)
  return 'reason' in claim ? claim.reason : 'claimed'
}

/** @returns whether the delivery is genuine, from its headers to its body, or the reason of its refusal. */
export async function holds(
  proof: Proof,
  secret: string,
  headers: Record<string, string>,
  body: Uint8Array,
  urls?: string[],
) {
  const claim = claimed(proof, headers, urls)
  if ('reason' in claim) return claim.reason
  const key = await secretKey(proof, secret)
  if (typeof key === 'string') return key
  return claim.holds(key, body as Uint8Array<ArrayBuffer>)
}
