/** A signature under the provider's private key over the timestamp and the body. The vault holds only the public key. */
import type { PublicKeyProof } from '../../../src/wire/webhook-schemes.ts'
import { fromBase64, fromHex } from '../../bytes.ts'
import { type Arrival, type Claim, type Fault, fault, verified } from '../claim.ts'
import { joined } from '../signed.ts'
import { timestampFault } from '../window.ts'

export function readPublicKey(proof: PublicKeyProof, { headers, now }: Arrival): Claim | Fault {
  const names = namesIn(headers, proof)
  if ('reason' in names) return names
  const header = headers.get(names.header)?.trim()
  const timestamp = headers.get(names.timestampHeader)?.trim()
  if (!header) return fault('missing_header', `the header ${names.header} is missing`)
  if (!timestamp) return fault('missing_header', `the header ${names.timestampHeader} is missing`)
  const untimely = timestampFault(timestamp, now)
  if (untimely?.reason === 'bad_encoding') return untimely
  const signature = proof.by === 'ed25519' ? fromHex(header) : fromDer(fromBase64(header))
  if (signature?.length !== 64) {
    const written = proof.by === 'ed25519' ? 'signature of 64 bytes in hex' : 'DER signature in base64'
    return fault('bad_encoding', `the header ${names.header} holds no ${written}`)
  }
  const algorithm = proof.by === 'ed25519' ? { name: 'Ed25519' } : { name: 'ECDSA', hash: 'SHA-256' }
  const signed = (body: Uint8Array<ArrayBuffer>) => joined([timestamp, body])
  const claim: Claim = { signed, holds: (key, body) => verified(algorithm, key, signature, signed(body)) }
  return untimely ? { ...untimely, claim } : claim
}

/** Finds headers of which only the end of the name is known. Two headers with that end are a fault: either could be forged. */
function namesIn(headers: Headers, { header, timestampHeader }: PublicKeyProof) {
  if (!header.startsWith('*')) return { header, timestampHeader }
  const ending = header.slice(1)
  const [name, ...others] = [...headers.keys()].filter((key) => key.endsWith(ending))
  if (name === undefined) return fault('missing_header', `no header ends in ${ending}`)
  if (others.length > 0) return fault('bad_encoding', `several headers end in ${ending}`)
  return { header: name, timestampHeader: name.slice(0, -ending.length) + timestampHeader.slice(1) }
}

/** DER tag of a SEQUENCE (X.690 section 8.9). */
const sequence = 0x30
/** DER tag of an INTEGER (X.690 section 8.3). */
const integer = 0x02
/** Length of r and s in bytes on P-256. */
const scalarBytes = 32

/**
 * Converts an ECDSA P-256 signature to the form that WebCrypto expects: r and s, 32 bytes each.
 * @returns `undefined` for input that is not DER (X.690 section 10): long lengths, superfluous zeros, negative numbers, zero,
 * or bytes behind the signature.
 */
export function fromDer(der: Uint8Array | undefined): Uint8Array<ArrayBuffer> | undefined {
  if (!der || der[0] !== sequence || der[1] !== der.length - 2 || der.length < 8) return undefined
  const raw = new Uint8Array(2 * scalarBytes)
  let at = 2
  for (const end of [scalarBytes, 2 * scalarBytes]) {
    const length = der[at + 1]
    if (der[at] !== integer || length === undefined || length === 0 || at + 2 + length > der.length) return undefined
    let value = der.subarray(at + 2, at + 2 + length)
    if (value[0]! & 0x80) return undefined
    if (value[0] === 0) {
      if (value.length === 1 || !(value[1]! & 0x80)) return undefined
      value = value.subarray(1)
    }
    if (value.length > scalarBytes) return undefined
    raw.set(value, end - value.length)
    at += 2 + length
  }
  return at === der.length ? raw : undefined
}
