import { verifyAndroid } from '../auth/devices/android.ts'
import { verifyApple } from '../auth/devices/apple.ts'
import type { Attested } from '../auth/devices/attested.ts'
import { readCertificate } from '../auth/devices/certificate.ts'
import type { Refused } from '../auth/devices/chain.ts'
import { appleRoots, googleRoots, type Root } from '../auth/devices/roots.ts'
import { base64url } from '../auth/shared/base64url.ts'
import { debugText } from '../wire/debug-device.ts'
import { type Bytes, rawSignature } from '../wire/der.ts'
import type { DeviceApp } from '../wire/device-apps.ts'
import { keyIdOf, pointBytes } from '../wire/devices.ts'

/** A key without any hardware: it signs the challenge, and proves nothing else. */
export async function verifySoftwareKey(challenge: Bytes, point: Bytes, signature: Bytes): Promise<Attested | Refused> {
  if (point.length !== pointBytes) return { reason: 'wrong_key' }
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', point, algorithm, false, ['verify'])
  const signed = new TextEncoder().encode(debugText(base64url(challenge)))
  if (!(await crypto.subtle.verify(algorithm, key, rawSignature(signature), signed))) return { reason: 'bad_signature' }
  const keyId = await keyIdOf(point)
  return {
    point,
    keyId,
    environment: 'debug',
    keyStorage: 'software',
    facts: {},
    rpIdHash: null,
    receipt: null,
    chainSerials: [],
  }
}

/** An attestation that a device made at another time, for another challenge. */
export interface Recorded {
  challenge: Bytes
  at: number
  attestation?: Bytes | undefined
  certificates?: Bytes[] | undefined
  /** Certificates of roots that count beside the pinned ones. */
  roots: Bytes[]
}

/** Verifies a recording at the time at which it was made. The device is a debug one, also where the recording is of a real one. */
export async function verifyRecorded(
  { challenge, at, roots, ...proof }: Recorded,
  app: DeviceApp,
): Promise<Attested | Refused> {
  const own = roots.map(rootOf)
  const { attestation = new Uint8Array(), certificates = [] } = proof
  const attested =
    app.platform === 'ios'
      ? await verifyApple({
          attestation,
          challenge,
          app,
          environments: ['production', 'development'],
          roots: [...appleRoots, ...own],
          now: at,
        })
      : await verifyAndroid({ certificates, challenge, app, roots: [...googleRoots, ...own], now: at })
  return 'reason' in attested ? attested : { ...attested, environment: 'debug' }
}

function rootOf(certificate: Bytes): Root {
  const { subject, publicKey, notAfter } = readCertificate(certificate)
  if (publicKey.kind === 'other') throw new Error('the key of a root is of another kind')
  return {
    subject,
    spki: publicKey.spki,
    kind: publicKey.kind,
    until: notAfter,
    ...(publicKey.kind === 'rsa' ? { hasFactoryChains: true } : {}),
  }
}
