/**
 * Verifies that an attested device has sent a request: the header `Device-Assertion`. The signature is verified before any connection
 * is opened. The database then says whose key it is, in the read that brings the grants. A failure is never an error: the request has
 * no device, and the log has the reason.
 */
import type { AttestedDevice } from '../src/sdk/user.ts'
import { type CborValue, readCbor } from '../src/wire/cbor.ts'
import { type Bytes, rawSignature } from '../src/wire/der.ts'
import {
  appExtensions,
  assertedText,
  assertionWindowSeconds,
  type DeviceAssertion,
  deviceAssertionHeader,
  readAssertion,
} from '../src/wire/device-assertion.ts'
import {
  type DeviceEnvironment,
  type DeviceFacts,
  type DevicePlatform,
  type KeyStorage,
  keyIdOf,
} from '../src/wire/devices.ts'
import type { AssertedBody } from './body.ts'
import { fromBase64Url, toBase64Url } from './bytes.ts'
import type { Call } from './call.ts'
import { bearerToken } from './identity/bearer.ts'

/** An assertion whose signature has held. Whose key it is, the database says. */
export interface DeviceProof {
  /** SHA-256 of the key's point, in base64url. */
  keyId: string
  nonce: string
  /** Unix time in seconds. */
  time: number
  /** SHA-256 of the app id, which Apple's assertions carry. `null` for a plain signature. */
  rpIdHash: string | null
  /** Facts that the assertion repeats, as of now. */
  facts: DeviceFacts
}

/** The row of a device, as `auth.request_context` gives it. */
export interface DeviceRow {
  id: string
  platform: DevicePlatform
  application_key: string
  environment: DeviceEnvironment
  key_storage: KeyStorage
  attested_at: string
  facts: DeviceFacts
  rp_id_hash: string | null
  is_revoked: boolean
  /** The row says that the device was last seen more than a day ago. */
  is_unseen: boolean
}

/** Why a request has no device. */
type Reason =
  | 'missing'
  | 'malformed'
  | 'stale'
  | 'future'
  | 'body_too_large'
  | 'bad_key'
  | 'bad_signature'
  | 'unknown_key'
  | 'wrong_app'
  | 'revoked'
  | 'replayed'

export function hasAssertion({ request }: Call): boolean {
  return request.headers.has(deviceAssertionHeader)
}

/** Logs why a request has no device. */
export function noDevice(call: Call, reason: Reason): null {
  call.log('info', 'the request has no attested device', { reason })
  return null
}

/** Call it for a request whose access token was verified. @returns `null` where the assertion does not hold, with a line in the log. */
export async function proveDevice(call: Call, body: AssertedBody): Promise<DeviceProof | null> {
  try {
    const proof = await prove(call, body)
    return typeof proof === 'string' ? noDevice(call, proof) : proof
  } catch {
    // CBOR or DER that is malformed
    return noDevice(call, 'malformed')
  }
}

async function prove(call: Call, body: AssertedBody): Promise<DeviceProof | Reason> {
  const { request, path, search } = call
  const assertion = readAssertion(request.headers.get(deviceAssertionHeader) ?? '', fromBase64Url)
  const bearer = bearerToken(request)
  if (!assertion || !bearer || !('token' in bearer)) return 'malformed'
  const { time, nonce } = assertion
  const now = Date.now() / 1000
  if (time < now - assertionWindowSeconds) return 'stale'
  if (time > now + assertionWindowSeconds) return 'future'
  if (body === 'too large') return 'body_too_large'
  const key = await importPoint(assertion.point)
  if (!key) return 'bad_key'
  const [bodyDigest, tokenDigest] = await Promise.all([digestText(body), digestText(encoder.encode(bearer.token))])
  const signed = assertedText({
    time,
    nonce,
    method: request.method,
    target: `${path}${search}`,
    bodyDigest,
    tokenDigest,
  })
  const claims = await signedBy(key, assertion, new Uint8Array(encoder.encode(signed)))
  if (!claims) return 'bad_signature'
  return { keyId: toBase64Url(await keyIdOf(assertion.point)), nonce, time, ...claims }
}

const encoder = new TextEncoder()
const ecdsa = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** @returns `undefined` for a point that does not lie on the curve. */
async function importPoint(point: Bytes): Promise<CryptoKey | undefined> {
  try {
    return await crypto.subtle.importKey('raw', point, ecdsa, false, ['verify'])
  } catch {
    return undefined
  }
}

async function sha256(bytes: Uint8Array): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

async function digestText(bytes: Uint8Array): Promise<string> {
  return toBase64Url(await sha256(bytes))
}

type Claims = Pick<DeviceProof, 'rpIdHash' | 'facts'>

/** @returns what the assertion itself says, where the key has signed the text. @throws CborFault, DerFault */
async function signedBy(key: CryptoKey, { form, proof }: DeviceAssertion, text: Bytes): Promise<Claims | undefined> {
  if (form === 'es256') {
    const isSigned = await crypto.subtle.verify(ecdsa, key, rawSignature(proof), text)
    return isSigned ? { rpIdHash: null, facts: {} } : undefined
  }
  const apple = appleAssertion(readCbor(proof))
  if (!apple) return undefined
  const { signature, data } = apple
  // Apple signs the digest of the authenticator data and the client data's digest, and hashes it once more
  const signed = new Uint8Array(data.length + 32)
  signed.set(data)
  signed.set(await sha256(text), data.length)
  if (!(await crypto.subtle.verify(ecdsa, key, rawSignature(signature), await sha256(signed)))) return undefined
  const rest = data.subarray(headBytes)
  // the flags tell nothing: AT is set although no credential follows, and ED is clear although extensions do
  const facts = rest.length === 0 ? {} : appExtensions(readCbor(rest))
  return facts && { rpIdHash: toBase64Url(data.subarray(0, 32)), facts }
}

/** Bytes of authenticator data before its extensions: the hash of the app id, flags and a counter. */
const headBytes = 37

/** @returns the members of an assertion that has these two and no others. */
function appleAssertion(value: CborValue): { signature: Bytes; data: Bytes } | undefined {
  if (!(value instanceof Map) || value.size !== 2) return undefined
  const [signature, data] = [value.get('signature'), value.get('authenticatorData')]
  if (!(signature instanceof Uint8Array) || !(data instanceof Uint8Array) || data.length < headBytes) return undefined
  return { signature, data }
}

/**
 * The device of a request whose assertion has held.
 *
 * @param row of the caller's own device with this key, if there is one.
 * @param isClaimed whether the nonce was unused. Absent where the route does not ask.
 */
export function deviceOf(
  call: Call,
  proof: DeviceProof,
  row: DeviceRow | null,
  isClaimed?: boolean,
): AttestedDevice | null {
  if (!row) return noDevice(call, 'unknown_key')
  if (row.is_revoked) return noDevice(call, 'revoked')
  if (row.rp_id_hash !== proof.rpIdHash) return noDevice(call, 'wrong_app')
  if (isClaimed === false) return noDevice(call, 'replayed')
  const { verified_boot, os_version, os_patch_level, category, bundle_version } = { ...row.facts, ...proof.facts }
  return {
    id: row.id,
    platform: row.platform,
    applicationKey: row.application_key,
    environment: row.environment,
    keyStorage: row.key_storage,
    attestedAt: new Date(row.attested_at).toISOString(),
    assertedAt: new Date(proof.time * 1000).toISOString(),
    facts: {
      ...(verified_boot && { verifiedBoot: verified_boot }),
      ...(os_version !== undefined && { osVersion: os_version }),
      ...(os_patch_level !== undefined && { osPatchLevel: os_patch_level }),
      ...(category !== undefined && { category }),
      ...(bundle_version !== undefined && { bundleVersion: bundle_version }),
    },
  }
}
