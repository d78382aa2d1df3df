/** Whether a delivery is what its sender signed, now. The reasons only reach the log (contract 7.9). */
import { fromBase64, fromHex } from '../bytes.ts'
import { hmacKey } from '../hmac.ts'
import type { Scheme } from './presets.ts'
import { refuseTimestamp } from './replay.ts'
import { signedBytes } from './signed.ts'

export type RefusalReason =
  | 'missing_header'
  | 'bad_encoding'
  | 'stale_timestamp'
  | 'future_timestamp'
  | 'bad_signature'
  | 'unset_secret'

/** What the headers claim, before a byte of the body is read. */
export interface Claim {
  timestamp: string
  signatures: Uint8Array<ArrayBuffer>[]
}

/** A rotation takes two; each costs an HMAC over the whole body. */
const mostSignatures = 8

const digestBytes = { 'SHA-256': 32, 'SHA-1': 20 }

/** @param now Unix time in seconds. */
export function readClaim(scheme: Scheme, headers: Headers, now: number): Claim | RefusalReason {
  const header = headers.get(scheme.header)?.trim()
  if (!header) return 'missing_header'
  const stated = scheme.parts ? readParts(header, scheme.parts) : readWhole(header, scheme, headers)
  if (typeof stated === 'string') return stated
  const isTimed = scheme.parts !== undefined || scheme.timestampHeader !== undefined
  const stale = isTimed ? refuseTimestamp(stated.timestamp, now) : undefined
  if (stale) return stale
  const decode = scheme.encoding === 'hex' ? fromHex : fromBase64
  const signatures = stated.signatures
    .map(decode)
    .filter((bytes) => bytes?.length === digestBytes[scheme.algorithm]) as Claim['signatures']
  return signatures.length > 0 ? { timestamp: stated.timestamp, signatures } : 'bad_encoding'
}

interface Stated {
  timestamp: string
  signatures: string[]
}

/** `t=…,v1=…[,v1=…]`: other names are ignored, two times are a contradiction. */
function readParts(header: string, names: { timestamp: string; signature: string }): Stated | RefusalReason {
  const pairs = header.split(',').map((item) => {
    const part = item.trim()
    const equals = part.indexOf('=')
    return [part.slice(0, equals), part.slice(equals + 1)] as const
  })
  const valuesOf = (name: string) => pairs.filter(([key]) => key === name).map(([, value]) => value)
  const [timestamp, ...others] = valuesOf(names.timestamp)
  const signatures = valuesOf(names.signature)
  if (signatures.length > mostSignatures) return 'bad_encoding'
  if (timestamp === undefined || signatures.length === 0) return 'missing_header'
  return others.length > 0 ? 'bad_encoding' : { timestamp, signatures }
}

function readWhole(header: string, { prefix = '', timestampHeader }: Scheme, headers: Headers): Stated | RefusalReason {
  if (!header.startsWith(prefix)) return 'bad_encoding'
  const timestamp = timestampHeader === undefined ? '' : headers.get(timestampHeader)?.trim()
  if (timestamp === undefined) return 'missing_header'
  return { timestamp, signatures: [header.slice(prefix.length)] }
}

/** The comparison is `subtle.verify`'s own: whole, and in constant time. */
export async function isGenuine(scheme: Scheme, claim: Claim, secret: string, body: Uint8Array): Promise<boolean> {
  const key = await hmacKey(scheme.algorithm, secret)
  const signed = signedBytes(scheme.signs, claim.timestamp, body)
  for (const signature of claim.signatures) {
    if (await crypto.subtle.verify('HMAC', key, signature, signed)) return true
  }
  return false
}
