/** Apple App Attest: what a key of the Secure Enclave proves about the app that made it (Apple, "Validating apps that connect to your server"). */
import { type CborMap, type CborValue, readCbor, readCborPrefix } from '../../wire/cbor.ts'
import { type Bytes, contentOf, contextTag, derTags, explicit, readDer, sequenceOf } from '../../wire/der.ts'
import type { IosApp } from '../../wire/device-apps.ts'
import { appExtensions } from '../../wire/device-assertion.ts'
import { type DeviceEnvironment, type DeviceFacts, keyIdOf } from '../../wire/devices.ts'
import type { Attested } from './attested.ts'
import { type Certificate, isSame, readCertificate } from './certificate.ts'
import { chainFault, type Refused } from './chain.ts'
import type { Root } from './roots.ts'

/** Longest attestation in bytes. Real ones have about 5,600. */
const longestAttestation = 16_384
/** The extension of the leaf that holds the nonce. */
const nonceExtension = '1.2.840.113635.100.8.2'

const encoder = new TextEncoder()
const ascii = (text: string): Bytes => new Uint8Array(encoder.encode(text))
/** The AAGUID tells the environment. */
const aaguids: [DeviceEnvironment & ('production' | 'development'), Uint8Array][] = [
  ['production', ascii('appattest\0\0\0\0\0\0\0')],
  ['development', ascii('appattestdevelop')],
]

export interface AppleInput {
  attestation: Bytes
  challenge: Bytes
  app: IosApp
  environments: readonly DeviceEnvironment[]
  roots: readonly Root[]
  /** Unix time in milliseconds. */
  now: number
}

/** @throws DerFault or CborFault for input that is malformed. */
export async function verifyApple({
  attestation,
  challenge,
  app,
  environments,
  roots,
  now,
}: AppleInput): Promise<Attested | Refused> {
  if (attestation.length > longestAttestation) return { reason: 'too_long' }
  const parts = attestationParts(readCbor(attestation))
  if (!parts) return { reason: 'malformed' }
  const { certificates, receipt, authData } = parts
  const chain = certificates.map(readCertificate)
  const fault = await chainFault(chain, { roots, now })
  if (fault) return fault
  const [leaf] = chain as [Certificate]
  const { point } = leaf.publicKey
  if (!point) return { reason: 'wrong_key' }
  if (!isSame(nonceOf(leaf) ?? new Uint8Array(), await sha256(concat(authData, await sha256(challenge)))))
    return { reason: 'wrong_challenge' }
  const credential = credentialOf(authData)
  if (!credential) return { reason: 'malformed' }
  const hashes = await Promise.all(app.app_ids.map((id) => sha256(ascii(id))))
  const rpIdHash = hashes.find((hash) => isSame(hash, credential.rpIdHash))
  if (!rpIdHash) return { reason: 'wrong_app' }
  if (credential.counter !== 0) return { reason: 'wrong_counter' }
  const environment = aaguids.find(([, aaguid]) => isSame(aaguid, credential.aaguid))?.[0]
  if (!environment || !environments.includes(environment)) return { reason: 'wrong_environment' }
  const keyId = await keyIdOf(point)
  if (!isSame(credential.id, keyId) || !isSame(credential.point, point)) return { reason: 'wrong_key' }
  const { category } = credential.facts
  if (category !== undefined && app.categories && !app.categories.includes(category))
    return { reason: 'wrong_category' }
  const chainSerials = chain.slice(1).map(({ serial }) => serial)
  return {
    point,
    keyId,
    environment,
    keyStorage: 'secure_enclave',
    facts: credential.facts,
    rpIdHash,
    receipt,
    chainSerials,
  }
}

/** @returns the parts of the statement where it has them and no others. */
function attestationParts(value: CborValue): { certificates: Bytes[]; receipt: Bytes; authData: Bytes } | undefined {
  const outer = members(value, ['fmt', 'attStmt', 'authData'])
  const statement = members(outer?.[1], ['x5c', 'receipt'])
  if (outer?.[0] !== 'apple-appattest' || !statement) return undefined
  const [certificates, receipt] = statement
  if (!Array.isArray(certificates) || certificates.length !== 2 || !certificates.every(isBytes)) return undefined
  const authData = outer[2]
  return isBytes(receipt) && isBytes(authData) ? { certificates, receipt, authData } : undefined
}

/** @returns the values of exactly these members. */
function members(value: CborValue | undefined, names: readonly (string | number)[]): CborValue[] | undefined {
  if (!(value instanceof Map) || value.size !== names.length) return undefined
  const values = names.map((name) => (value as CborMap).get(name))
  return values.every((one) => one !== undefined) ? (values as CborValue[]) : undefined
}

function isBytes(value: CborValue | undefined): value is Bytes {
  return value instanceof Uint8Array
}

/** The nonce is the one octet string of a sequence, under an explicit tag. @throws DerFault */
function nonceOf(leaf: Certificate): Bytes | undefined {
  const extension = leaf.extensions.get(nonceExtension)
  if (!extension) return undefined
  const [tagged, ...others] = sequenceOf(readDer(extension), 2)
  if (tagged?.tag !== contextTag(1) || others.length > 0) return undefined
  return contentOf(explicit(tagged), derTags.octetString)
}

interface Credential {
  rpIdHash: Bytes
  counter: number
  aaguid: Bytes
  id: Bytes
  point: Bytes
  facts: DeviceFacts
}

/** Length of a key id in bytes. */
const idBytes = 32

/**
 * Reads authenticator data (WebAuthn section 6.1). The flags are not read: Apple clears ED where extensions follow, and sets AT in
 * assertions that have no credential.
 */
function credentialOf(data: Bytes): Credential | undefined {
  if (data.length < 55 + idBytes) return undefined
  const view = new DataView(data.buffer, data.byteOffset, data.length)
  if (view.getUint16(53) !== idBytes) return undefined
  const { value, rest } = readCborPrefix(data.subarray(55 + idBytes))
  const point = pointOf(value)
  const facts = rest.length === 0 ? {} : appExtensions(readCbor(rest))
  if (!point || !facts) return undefined
  return {
    rpIdHash: data.subarray(0, 32),
    counter: view.getUint32(33),
    aaguid: data.subarray(37, 53),
    id: data.subarray(55, 55 + idBytes),
    point,
    facts,
  }
}

/** @returns the point of a COSE key for ES256 (RFC 9053 sections 2.1 and 7.1.1). */
function pointOf(value: CborValue): Bytes | undefined {
  const [type, algorithm, curve, x, y] = members(value, [1, 3, -1, -2, -3]) ?? []
  if (type !== 2 || algorithm !== -7 || curve !== 1 || !isBytes(x) || !isBytes(y)) return undefined
  return x.length === 32 && y.length === 32 ? concat(new Uint8Array([4]), x, y) : undefined
}

async function sha256(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

function concat(...parts: Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
