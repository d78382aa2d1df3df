/** Imports the text of a vault entry as the key of its scheme (contract 7.10). */
import { type Proof, proofUnder } from '../../src/wire/webhook-schemes.ts'
import { fromBase64, fromHex } from '../bytes.ts'
import { utf8 } from './signed.ts'

/** @returns why an entry cannot be the secret of this scheme, without any part of its text. */
export function secretFault(proof: Proof, text: string): string | undefined {
  const bytes = keyBytes(proofUnder(proof, text), text)
  return typeof bytes === 'string' ? bytes : undefined
}

function keyBytes(proof: Proof, text: string): Uint8Array<ArrayBuffer> | string {
  if (text.trim() !== text) return 'it begins or ends with white space'
  if (/^(["']).*\1$/.test(text)) return 'it is enclosed in quotes'
  if (/\p{Cc}/u.test(text)) return 'it holds a control character'
  switch (proof.by) {
    case 'ed25519': {
      const key = fromHex(text.toLowerCase())
      if (key?.length !== 32) return 'it is no Ed25519 public key: 64 hex digits'
      return isOfSmallOrder(key) ? 'it is a key under which anybody can sign' : key
    }
    case 'ecdsa': {
      const key = fromBase64(text)
      const isKey = key?.length === spkiBytes && spkiHead.every((byte, index) => key[index] === byte)
      return isKey ? key : 'it is not a P-256 public key: base64 of its SPKI form, without the PEM lines'
    }
    case 'hmac': {
      if (proof.secret === 'text') return utf8(text)
      const key = fromBase64(text.replace(/^(?:v1,)?whsec_/, ''))
      return key && key.length > 0 ? key : 'it is not base64 after whsec_'
    }
    default:
      return utf8(text)
  }
}

/** The SPKI form of an uncompressed P-256 point up to its coordinates (RFC 5480). */
const spkiHead = fromHex('3059301306072a8648ce3d020106082a8648ce3d03010703420004')!
/** Length of the whole SPKI form in bytes: the head and two coordinates of 32 bytes. */
const spkiBytes = 91

/** All encodings of points of small order on edwards25519, without the sign bit. Anyone can make signatures that such a key verifies. */
const smallOrder = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
].map((hex) => fromHex(hex)!)

function isOfSmallOrder(key: Uint8Array): boolean {
  return smallOrder.some((point) =>
    point.every((byte, index) => byte === (index === 31 ? key[index]! & 0x7f : key[index])),
  )
}

/** Imported keys by proof and text. Promises are not kept: the Workers runtime may cancel the request that owns one. */
const keys = new WeakMap<Proof, Map<string, CryptoKey>>()

/** Imports a key once. Later calls return it without a promise. @returns the key, or why there is none. */
export function secretKey(proof: Proof, text: string): CryptoKey | string | Promise<CryptoKey | string> {
  const own = keys.get(proof) ?? new Map<string, CryptoKey>()
  const known = own.get(text)
  if (known) return known
  const bytes = keyBytes(proof, text)
  if (typeof bytes === 'string') return bytes
  return importKey(proof, bytes).then(
    (key) => {
      keys.set(proof, own.set(text, key))
      return key
    },
    () => 'it is no key of this scheme',
  )
}

async function importKey(proof: Proof, bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  const { subtle } = crypto
  switch (proof.by) {
    case 'ed25519':
      return subtle.importKey('raw', bytes, { name: 'Ed25519' }, false, ['verify'])
    case 'ecdsa':
      return subtle.importKey('spki', bytes, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['verify'])
    default: {
      const hash = proof.by === 'hmac' ? proof.hash : proof.by === 'url' ? 'SHA-1' : 'SHA-256'
      return subtle.importKey('raw', bytes, { name: 'HMAC', hash }, false, ['sign', 'verify'])
    }
  }
}
