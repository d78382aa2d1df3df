/** The claim that a delivery's headers make, before its body is read. */
import type { Proof } from '../../src/wire/webhook-schemes.ts'

/** Reasons to refuse a delivery. Only the log has them (contract 7.9). */
export type FaultReason =
  | 'missing_header'
  | 'bad_encoding'
  | 'stale_timestamp'
  | 'future_timestamp'
  | 'bad_signature'
  | 'unset_secret'
  | 'malformed_secret'
  | 'unsupported_scheme'

/** Why a delivery is refused. */
export interface Fault {
  reason: FaultReason
  /** Describes the fault for the log: a clause without a full stop, and without secrets or signatures. */
  detail: string
  /** Set when the time is the only fault. If the claim holds, the body is recorded (contract 7.8). */
  claim?: Claim
}

export function fault(reason: FaultReason, detail: string): Fault {
  return { reason, detail }
}

export interface Arrival {
  headers: Headers
  /** Spellings of the address that the sender may have signed, the likeliest first. */
  urls: readonly string[]
  /** Unix time in seconds. */
  now: number
}

export interface Claim {
  /** @returns whether the key made the signature for this body. */
  holds(key: CryptoKey, body: Uint8Array<ArrayBuffer>): Promise<boolean>
  /** @returns the bytes that the signature covers. Their hash stands for a missing id (contract 7.7). */
  signed(body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>
  /** The id of the delivery, if it stands in a header that is signed. */
  id?: string
  /** The body is JSON, although its scheme says otherwise. */
  isJson?: boolean
  /** Name of the body's field with the time of sending in milliseconds. It is checked after the signature. */
  timestampField?: string
}

/** Verifies with `subtle.verify`, which compares in constant time. @returns `false` also where it throws. */
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

/** Functions that read claims, by the kind of proof. A bundle holds those that its webhooks need. */
export type Readers = { [By in Proof['by']]?: (proof: Proof & { by: By }, arrival: Arrival) => Claim | Fault }

/** Reads headers and address alone, so that an unsigned upload is refused before its body is read. */
export function readClaim(readers: Readers, proof: Proof, arrival: Arrival): Claim | Fault {
  const read = readers[proof.by] as (proof: Proof, arrival: Arrival) => Claim | Fault
  return read(proof, arrival)
}
