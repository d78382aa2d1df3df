/** A shared secret over a template of the body: most senders, and every `signature` block. */
import type { HmacProof } from '../../../src/wire/webhook-schemes.ts'
import { fromBase64, fromHex, isSame } from '../../bytes.ts'
import { type Arrival, type Claim, type Refusal, refusal, verified } from '../claim.ts'
import { signedBytes } from '../signed.ts'
import { refuseTimestamp } from '../window.ts'

/** A rotation takes two; each is compared. */
const mostSignatures = 8

const digestBytes = { 'SHA-256': 32, 'SHA-1': 20 }

export function readHmac(proof: HmacProof, { headers, now }: Arrival): Claim | Refusal {
  const header = headers.get(proof.header)?.trim()
  if (!header) return refusal('missing_header', `there is no ${proof.header}`)
  const stated = proof.parts
    ? readParts(header, proof.parts)
    : proof.label === undefined
      ? readWhole(header, proof.prefix ?? '')
      : readList(header, proof.label)
  if ('reason' in stated) return stated
  const values: Record<string, string> = {}
  const timestamp = proof.timestampHeader === undefined ? stated.timestamp : headerOf(headers, proof.timestampHeader)
  if (timestamp === undefined && proof.timestampHeader !== undefined) {
    return refusal('missing_header', `there is no ${proof.timestampHeader}`)
  }
  if (timestamp !== undefined) {
    const refused = refuseTimestamp(timestamp, now)
    if (refused) return refused
    values['{ts}'] = timestamp
  }
  const id = proof.idHeader === undefined ? undefined : headerOf(headers, proof.idHeader)
  if (proof.idHeader !== undefined) {
    if (id === undefined) return refusal('missing_header', `there is no ${proof.idHeader}`)
    // with a dot in it, two deliveries could share a signature
    if (id.includes('.')) return refusal('bad_encoding', `${proof.idHeader} holds a dot`)
    values['{id}'] = id
  }
  if (stated.signatures.length > mostSignatures) return refusal('bad_encoding', 'there are too many signatures')
  const decode = proof.encoding === 'hex' ? fromHex : fromBase64
  const signatures = stated.signatures
    .map(decode)
    .filter((bytes) => bytes?.length === digestBytes[proof.hash]) as Uint8Array<ArrayBuffer>[]
  if (signatures.length === 0) {
    return refusal('bad_encoding', `${proof.header} is no ${proof.encoding} of ${digestBytes[proof.hash]} bytes`)
  }
  const signed = (body: Uint8Array<ArrayBuffer>) => signedBytes(proof.signs, values, body)
  return {
    signed,
    ...(id === undefined ? {} : { id }),
    async holds(key, body) {
      const bytes = signed(body)
      const [only, ...others] = signatures as [Uint8Array<ArrayBuffer>]
      if (others.length === 0) return verified('HMAC', key, only, bytes)
      // one pass over the body, however many there are
      const own = new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes))
      return signatures.map((signature) => isSame(signature, own)).includes(true)
    },
  }
}

function headerOf(headers: Headers, name: string): string | undefined {
  return headers.get(name)?.trim() || undefined
}

interface Stated {
  timestamp?: string
  signatures: string[]
}

/** `t=…,v1=…[,v1=…]`: other names are ignored, two times are a contradiction. */
function readParts(header: string, names: { timestamp: string; signature: string }): Stated | Refusal {
  let timestamp: string | undefined
  let hasOther = false
  const signatures: string[] = []
  for (const item of header.split(',')) {
    const part = item.trim()
    const equals = part.indexOf('=')
    const [name, value] = [part.slice(0, equals), part.slice(equals + 1)]
    if (name === names.signature) signatures.push(value)
    else if (name !== names.timestamp) hasOther ||= /^v\d+$/.test(name)
    else if (timestamp === undefined) timestamp = value
    else return refusal('bad_encoding', `there are several parts ${names.timestamp}=`)
  }
  if (timestamp === undefined) return refusal('missing_header', `there is no part ${names.timestamp}=`)
  if (signatures.length > 0) return { timestamp, signatures }
  return hasOther
    ? refusal('unsupported_scheme', `there is no part ${names.signature}=, only other versions`)
    : refusal('missing_header', `there is no part ${names.signature}=`)
}

function readWhole(header: string, prefix: string): Stated | Refusal {
  if (header.startsWith(prefix)) return { signatures: [header.slice(prefix.length)] }
  return /^[A-Za-z][\w-]*[= ]/.test(header)
    ? refusal('unsupported_scheme', `the signature does not begin with "${prefix}", but as another scheme`)
    : refusal('bad_encoding', `the signature does not begin with "${prefix}"`)
}

/** `v1,… v1,… v1a,…`, in any order: labels of other algorithms are ignored. */
function readList(header: string, label: string): Stated | Refusal {
  const items = header.split(' ').filter((item) => item !== '')
  const signatures = items.filter((item) => item.startsWith(`${label},`)).map((item) => item.slice(label.length + 1))
  if (signatures.length > 0) return { signatures }
  return items.every((item) => /^v\w+,/.test(item))
    ? refusal('unsupported_scheme', `there is no signature "${label},", only other versions`)
    : refusal('bad_encoding', `there is no signature "${label},"`)
}
