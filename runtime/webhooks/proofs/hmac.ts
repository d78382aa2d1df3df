/** A shared secret over a template of the body: most senders, and every `signature` block. */
import type { HmacProof } from '../../../src/wire/webhook-schemes.ts'
import { fromBase64, fromHex, isSame } from '../../bytes.ts'
import { type Arrival, type Claim, type Refusal, refusal, verified } from '../claim.ts'
import { signedBytes } from '../signed.ts'
import { refuseTimestamp } from '../window.ts'

/** A rotation takes two; each is compared. */
const mostSignatures = 8

const digestBytes = { 'SHA-256': 32, 'SHA-1': 20 }

export function readHmac(declared: HmacProof, { headers, now }: Arrival): Claim | Refusal {
  const proof = declared.prefixes ? underPrefix(declared, declared.prefixes, headers) : declared
  const header = headers.get(proof.header)?.trim()
  if (!header) return refusal('missing_header', `the header ${declared.header} is missing`)
  const stated = proof.parts
    ? readParts(header, proof.parts)
    : proof.label === undefined
      ? readWhole(header, proof.prefix ?? '')
      : readList(header, proof.label)
  if ('reason' in stated) return stated
  const values: Record<string, string> = {}
  const timestamp = proof.timestampHeader === undefined ? stated.timestamp : headerOf(headers, proof.timestampHeader)
  if (timestamp === undefined && proof.timestampHeader !== undefined) {
    return refusal('missing_header', `the header ${proof.timestampHeader} is missing`)
  }
  const untimely = timestamp === undefined ? undefined : refuseTimestamp(timestamp, now)
  if (untimely?.reason === 'bad_encoding') return untimely
  if (timestamp !== undefined) values['{ts}'] = timestamp
  const id = proof.idHeader === undefined ? undefined : headerOf(headers, proof.idHeader)
  if (proof.idHeader !== undefined) {
    if (id === undefined) return refusal('missing_header', `the header ${proof.idHeader} is missing`)
    // with a dot in it, two deliveries could share a signature
    if (id.includes('.')) return refusal('bad_encoding', `the header ${proof.idHeader} holds a dot`)
    values['{id}'] = id
  }
  if (stated.signatures.length > mostSignatures) {
    return refusal('bad_encoding', `the header ${proof.header} holds more than ${mostSignatures} signatures`)
  }
  const decode = proof.encoding === 'hex' ? fromHex : fromBase64
  const signatures = stated.signatures
    .map(decode)
    .filter((bytes) => bytes?.length === digestBytes[proof.hash]) as Uint8Array<ArrayBuffer>[]
  if (signatures.length === 0) {
    const length = digestBytes[proof.hash]
    return refusal(
      'bad_encoding',
      `the header ${proof.header} holds no signature of ${length} bytes in ${proof.encoding}`,
    )
  }
  const signed = (body: Uint8Array<ArrayBuffer>) => signedBytes(proof.signs, values, body)
  const claim: Claim = {
    signed,
    ...(id === undefined ? {} : { id }),
    ...(proof.timestampField === undefined ? {} : { timestampField: proof.timestampField }),
    async holds(key, body) {
      const bytes = signed(body)
      const [only, ...others] = signatures as [Uint8Array<ArrayBuffer>]
      if (others.length === 0) return verified('HMAC', key, only, bytes)
      // one pass over the body, however many there are
      const own = new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes))
      return signatures.map((signature) => isSame(signature, own)).includes(true)
    },
  }
  return untimely ? { ...untimely, claim } : claim
}

/** All names under one of the two prefixes: headers of both never prove one delivery together. */
function underPrefix(proof: HmacProof, [own, other]: readonly [string, string], headers: Headers): HmacProof {
  const renamed = (name: string) => other + name.slice(own.length)
  const isOther = !headers.get(proof.header)?.trim() && !!headers.get(renamed(proof.header))?.trim()
  if (!isOther) return proof
  const { header, timestampHeader, idHeader } = proof
  return {
    ...proof,
    header: renamed(header),
    ...(timestampHeader === undefined ? {} : { timestampHeader: renamed(timestampHeader) }),
    ...(idHeader === undefined ? {} : { idHeader: renamed(idHeader) }),
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
function readParts(header: string, names: NonNullable<HmacProof['parts']>): Stated | Refusal {
  let timestamp: string | undefined
  let hasOther = false
  const signatures: string[] = []
  const { separator = ',' } = names
  for (const item of header.split(separator)) {
    const part = item.trim()
    const equals = part.indexOf('=')
    if (equals === -1) return refusal('bad_encoding', 'a part of the signature header has no equals sign')
    const [name, value] = [part.slice(0, equals), part.slice(equals + 1)]
    // two headers arrive as one, with a comma between
    if (separator !== ',' && part.includes(',')) return refusal('bad_encoding', 'the signature header came twice')
    if (name === names.signature) signatures.push(value)
    else if (name !== names.timestamp) hasOther ||= /^[a-z]\d+$/.test(name)
    else if (timestamp === undefined) timestamp = value
    else return refusal('bad_encoding', `the signature header has several parts ${names.timestamp}=`)
  }
  if (timestamp === undefined) return refusal('missing_header', `the signature header has no part ${names.timestamp}=`)
  if (signatures.length > 0) return { timestamp, signatures }
  return hasOther
    ? refusal('unsupported_scheme', `the signature header has no part ${names.signature}=, only other versions`)
    : refusal('missing_header', `the signature header has no part ${names.signature}=`)
}

function readWhole(header: string, prefix: string): Stated | Refusal {
  if (header.startsWith(prefix)) return { signatures: [header.slice(prefix.length)] }
  return /^[A-Za-z][\w-]*[= ]/.test(header)
    ? refusal('unsupported_scheme', `the signature does not begin with "${prefix}", but like that of another scheme`)
    : refusal('bad_encoding', `the signature does not begin with "${prefix}"`)
}

/** `v1,… v1,… v1a,…`, in any order: labels of other algorithms are ignored. */
function readList(header: string, label: string): Stated | Refusal {
  const items = header.split(' ').filter((item) => item !== '')
  const signatures = items.filter((item) => item.startsWith(`${label},`)).map((item) => item.slice(label.length + 1))
  if (signatures.length > 0) return { signatures }
  return items.every((item) => /^v\w+,/.test(item))
    ? refusal('unsupported_scheme', `no signature begins with "${label},", only others of other versions`)
    : refusal('bad_encoding', `no signature begins with "${label},"`)
}
