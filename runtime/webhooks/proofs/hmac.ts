/** An HMAC under a shared secret over a template of the body: most providers, and every `signature` block. */
import type { HmacProof } from '../../../src/wire/webhook-schemes.ts'
import { fromBase64, fromHex, isSame } from '../../bytes.ts'
import { type Arrival, type Claim, type Fault, fault, verified } from '../claim.ts'
import { signedBytes } from '../signed.ts'
import { timestampFault } from '../window.ts'

/** Largest number of signatures in one header. A rotation takes two. Each costs a comparison, and an attacker chooses the number. */
const mostSignatures = 8

/** Length of a digest in bytes. */
const digestBytes = { 'SHA-256': 32, 'SHA-1': 20 }

export function readHmac(declared: HmacProof, { headers, now }: Arrival): Claim | Fault {
  const proof = declared.prefixes ? underPrefix(declared, declared.prefixes, headers) : declared
  const header = headers.get(proof.header)?.trim()
  if (!header) return fault('missing_header', `the header ${declared.header} is missing`)
  const stated = proof.parts
    ? readParts(header, proof.parts)
    : proof.label === undefined
      ? readWhole(header, proof.prefix ?? '')
      : readList(header, proof.label)
  if ('reason' in stated) return stated
  const values: Record<string, string> = {}
  const timestamp = proof.timestampHeader === undefined ? stated.timestamp : headerOf(headers, proof.timestampHeader)
  if (timestamp === undefined && proof.timestampHeader !== undefined) {
    return fault('missing_header', `the header ${proof.timestampHeader} is missing`)
  }
  const untimely = timestamp === undefined ? undefined : timestampFault(timestamp, now)
  if (untimely?.reason === 'bad_encoding') return untimely
  if (timestamp !== undefined) values['{ts}'] = timestamp
  const id = proof.idHeader === undefined ? undefined : headerOf(headers, proof.idHeader)
  if (proof.idHeader !== undefined) {
    if (id === undefined) return fault('missing_header', `the header ${proof.idHeader} is missing`)
    // the template separates its parts by dots: with a dot in the id, two deliveries could share a signature
    if (id.includes('.')) return fault('bad_encoding', `the header ${proof.idHeader} holds a dot`)
    values['{id}'] = id
  }
  if (stated.signatures.length > mostSignatures) {
    return fault('bad_encoding', `the header ${proof.header} holds more than ${mostSignatures} signatures`)
  }
  const decode = proof.encoding === 'hex' ? fromHex : fromBase64
  const signatures = stated.signatures
    .map(decode)
    .filter((bytes) => bytes?.length === digestBytes[proof.hash]) as Uint8Array<ArrayBuffer>[]
  if (signatures.length === 0) {
    const length = digestBytes[proof.hash]
    return fault(
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
      // one pass over the body for any number of signatures
      const own = new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes))
      return signatures.map((signature) => isSame(signature, own)).includes(true)
    },
  }
  return untimely ? { ...untimely, claim } : claim
}

/** Reads all headers under one of the two prefixes: headers of both prefixes never prove one delivery together. */
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

/** Parses `t=…,v1=…[,v1=…]`. Parts with other names are ignored. Two timestamps are a fault. */
function readParts(header: string, names: NonNullable<HmacProof['parts']>): Stated | Fault {
  let timestamp: string | undefined
  let hasOther = false
  const signatures: string[] = []
  const { separator = ',' } = names
  for (const item of header.split(separator)) {
    const part = item.trim()
    const equals = part.indexOf('=')
    if (equals === -1) return fault('bad_encoding', 'a part of the signature header has no equals sign')
    const [name, value] = [part.slice(0, equals), part.slice(equals + 1)]
    // a repeated header arrives as one header with a comma in between
    if (separator !== ',' && part.includes(',')) return fault('bad_encoding', 'the signature header came twice')
    if (name === names.signature) signatures.push(value)
    else if (name !== names.timestamp) hasOther ||= /^[a-z]\d+$/.test(name)
    else if (timestamp === undefined) timestamp = value
    else return fault('bad_encoding', `the signature header has several parts ${names.timestamp}=`)
  }
  if (timestamp === undefined) return fault('missing_header', `the signature header has no part ${names.timestamp}=`)
  if (signatures.length > 0) return { timestamp, signatures }
  return hasOther
    ? fault('unsupported_scheme', `the signature header has no part ${names.signature}=, only other versions`)
    : fault('missing_header', `the signature header has no part ${names.signature}=`)
}

function readWhole(header: string, prefix: string): Stated | Fault {
  if (header.startsWith(prefix)) return { signatures: [header.slice(prefix.length)] }
  return /^[A-Za-z][\w-]*[= ]/.test(header)
    ? fault('unsupported_scheme', `the signature does not begin with "${prefix}", but like that of another scheme`)
    : fault('bad_encoding', `the signature does not begin with "${prefix}"`)
}

/** Parses `v1,… v1,… v1a,…` in any order. Signatures with labels of other algorithms are ignored. */
function readList(header: string, label: string): Stated | Fault {
  const items = header.split(' ').filter((item) => item !== '')
  const signatures = items.filter((item) => item.startsWith(`${label},`)).map((item) => item.slice(label.length + 1))
  if (signatures.length > 0) return { signatures }
  return items.every((item) => /^v\w+,/.test(item))
    ? fault('unsupported_scheme', `no signature begins with "${label},", only others of other versions`)
    : fault('bad_encoding', `no signature begins with "${label},"`)
}
