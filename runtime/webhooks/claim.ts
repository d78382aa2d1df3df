/** What a delivery's headers claim, before a byte of its body is read. */
import type { Proof } from '../../src/wire/webhook-schemes.ts'

/** Only the log learns it (contract 7.9). */
export type RefusalReason =
  | 'missing_header'
  | 'bad_encoding'
  | 'stale_timestamp'
  | 'future_timestamp'
  | 'bad_signature'
  | 'unset_secret'
  | 'malformed_secret'
  | 'unsupported_scheme'

export interface Refusal {
  reason: RefusalReason
  /** What was wrong, for the log: a clause without a full stop, and nothing of a secret or a signature. */
  detail: string
  /** Set when a delivery is refused for its time alone. Whether it was genuine decides what is recorded (contract 7.8). */
  claim?: Claim
}

export function refusal(reason: RefusalReason, detail: string): Refusal {
  return { reason, detail }
}

export interface Arrival {
  headers: Headers
  /** How the sender may have written the address, the likeliest first. */
  urls: readonly string[]
  /** Unix time in seconds. */
  now: number
}

export interface Claim {
  /** Whether it holds for this body, under this key. */
  holds(key: CryptoKey, body: Uint8Array<ArrayBuffer>): Promise<boolean>
  /** What the signature covers: a delivery without an id is known by its hash (contract 7.7). */
  signed(body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>
  /** Signed, in a header. */
  id?: string
  /** The body is JSON, whatever its scheme says of bodies. */
  isJson?: boolean
  /** The body's field with the time of sending, in milliseconds: the window is judged once the signature has held. */
  timestampField?: string
}

/** The comparison is `subtle.verify`'s own: whole, and in constant time. What it throws for is no signature either. */
export async function verified(
  algorithm: string | { name: string; hash?: string },
  key: CryptoKey,
  signature: Uint8Array<ArrayBuffer>,
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  try {
    return await crypto.subtle.verify(algorithm, key, signature, signed)
  } catch {
    return false
  }
}

/** How claims are read, by what proves them: a worker holds those that its webhooks need. */
export type Readers = { [By in Proof['by']]?: (proof: Proof & { by: By }, arrival: Arrival) => Claim | Refusal }

/** From headers and address alone: an unsigned upload is refused before its body is read. */
export function readClaim(readers: Readers, proof: Proof, arrival: Arrival): Claim | Refusal {
  const read = readers[proof.by] as (proof: Proof, arrival: Arrival) => Claim | Refusal
  return read(proof, arrival)
}
