/** The header `Device-Assertion`: how a device proves that it sends this very request. */
import type { CborValue } from './cbor.ts'
import type { Bytes } from './der.ts'
import { type DeviceFacts, pointBytes } from './devices.ts'

export const deviceAssertionHeader = 'device-assertion'

/** Longest value of the header in characters. An assertion of iOS 27 takes about 500. */
export const longestAssertion = 1_200

/** Largest difference in seconds between the time of an assertion and the worker's clock. */
export const assertionWindowSeconds = 60

/** Longest body in bytes that an assertion covers: the worker holds the whole body to hash it. */
export const longestAssertedBody = 1_048_576

/** Bytes of a nonce. */
const nonceBytes = 16

/** An assertion as its header has it, not verified yet. */
export interface DeviceAssertion {
  point: Bytes
  /** Unix time in seconds. */
  time: number
  /** Base64url, as the header has it: one nonce has one spelling. */
  nonce: string
  /** `apple` is an assertion of App Attest, `es256` an ECDSA signature in DER. */
  form: 'apple' | 'es256'
  proof: Bytes
}

/** One spelling for each value: named parts in one order, one blank after each comma. */
const header =
  /^v=1, k=([A-Za-z0-9_-]{87}), t=([1-9][0-9]{9}), n=([A-Za-z0-9_-]{22}), (apple|es256)=([A-Za-z0-9_-]{12,})$/

/** @param decode canonical base64url. @returns `undefined` for every other spelling, and for a header that stands twice. */
export function readAssertion(value: string, decode: (text: string) => Bytes | undefined): DeviceAssertion | undefined {
  const [, k, t, nonce, form, proof] = (value.length <= longestAssertion && header.exec(value)) || []
  if (k === undefined || nonce === undefined || proof === undefined) return undefined
  const point = decode(k)
  const bytes = decode(proof)
  if (point?.length !== pointBytes || point[0] !== 4 || decode(nonce)?.length !== nonceBytes || !bytes) return undefined
  return { point, time: Number(t), nonce, form: form as 'apple' | 'es256', proof: bytes }
}

/** The parts of a request that a device signs. */
export interface AssertedRequest {
  /** Unix time in seconds. */
  time: number
  /** 16 bytes in base64url. */
  nonce: string
  method: string
  /** Path and query as they follow the stack's base URL, in the spelling of the URL standard. */
  target: string
  /** SHA-256 of the body in base64url. A request without a body has the digest of no bytes. */
  bodyDigest: string
  /** SHA-256 of the access token in base64url. */
  tokenDigest: string
}

/**
 * The text that is signed. The first line keeps the key from signing anything else, a certificate for instance. The token stands for
 * the environment and the session, so that no host need be signed: proxies rename hosts.
 */
export function assertedText({ time, nonce, method, target, bodyDigest, tokenDigest }: AssertedRequest): string {
  return ['stack-device-1', String(time), nonce, method, target, bodyDigest, tokenDigest].join('\n')
}

/**
 * The extensions that Apple appends to authenticator data since iOS 27.
 *
 * @returns `undefined` where they are malformed.
 */
export function appExtensions(value: CborValue): DeviceFacts | undefined {
  if (!(value instanceof Map)) return undefined
  const category = value.get('apple_validation_category_01')
  const version = value.get('apple_bundle_version_01')
  const facts: DeviceFacts = {}
  if (category !== undefined) {
    if (!(category instanceof Uint8Array) || category.length !== 4) return undefined
    facts.category = new DataView(category.buffer, category.byteOffset, 4).getUint32(0, true)
  }
  if (version !== undefined) {
    if (typeof version !== 'string' || version.length === 0 || version.length > 100) return undefined
    facts.bundle_version = version
  }
  return facts
}
