/** Verifies the header `Device-Assertion`, and makes the device of what the database knows of its key. */
import type { AttestedDevice } from '../../src/sdk/user.ts'
import { type CborValue, readCbor } from '../../src/wire/cbor.ts'
import { type Bytes, rawSignature } from '../../src/wire/der.ts'
import {
  appExtensions,
  assertedText,
  assertionWindowSeconds,
  type DeviceAssertion,
  deviceAssertionHeader,
  readAssertion,
} from '../../src/wire/device-assertion.ts'
import { keyIdOf } from '../../src/wire/devices.ts'
import { fromBase64Url, toBase64Url } from '../bytes.ts'
import type { Call } from '../call.ts'
import type { DeviceProof, DeviceRow } from '../database/asked-device.ts'
import { bearerToken } from '../identity/bearer.ts'
import { noDevice, type Reason } from './reasons.ts'

/** @returns `null` where the assertion does not hold, with a line in the log. */
export async function proveDevice(call: Call, body: Uint8Array | 'too large'): Promise<DeviceProof | null> {
  try {
    const proof = await prove(call, body)
    return typeof proof === 'string' ? noDevice(call, proof) : proof
  } catch {
    // CBOR or DER that is malformed
    return noDevice(call, 'malformed')
  }
}

async function prove(call: Call, body: Uint8Array | 'too large'): Promise<DeviceProof | Reason> {
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
export async function importPoint(point: Bytes): Promise<CryptoKey | undefined> {
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
export async function signedBy(
  key: CryptoKey,
  { form, proof }: DeviceAssertion,
  text: Bytes,
): Promise<Claims | undefined> {
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
