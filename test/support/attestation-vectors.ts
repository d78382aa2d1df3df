/** Real attestations of public test suites. A clone of this repository alone has none: tests that need them are skipped. */
import * as fs from 'node:fs'
import path from 'node:path'
import type { AndroidInput } from '../../src/auth/devices/android.ts'
import type { AppleInput } from '../../src/auth/devices/apple.ts'
import { appleRoots, googleRoots } from '../../src/auth/devices/roots.ts'
import { androidApp, iosApp } from './attestations.ts'

const file = path.resolve(import.meta.dirname, '../../../shared/vectors/attestation-vectors.json')

export interface AppAttestVector {
  name: string
  app_id: string
  environment: 'production' | 'development'
  verify_at: string
  key_id: string
  client_data: string
  attestation: string
  assertion?: { object: string; client_data: string }
  public_key: string
}

interface KeyAttestationVector {
  name: string
  verify_at: string
  challenge: string
  package: string
  signing_certificate_sha256: string
  security_level: string
  chain: string[]
  result: string
}

interface Vectors {
  app_attest: AppAttestVector[]
  key_attestation: KeyAttestationVector[]
  revocation_list_sample: { entries: Record<string, { status: string }> }
}

/** `undefined` where the file is missing. */
export const attestationVectors: Vectors | undefined = fs.existsSync(file)
  ? (JSON.parse(fs.readFileSync(file, 'utf8')) as Vectors)
  : undefined

export const fromBase64 = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text, 'base64'))

/** The attestation at its own time, for the app and the environment that it names. */
export function appleInputOf(vector: AppAttestVector): AppleInput {
  return {
    attestation: fromBase64(vector.attestation),
    challenge: fromBase64(vector.client_data),
    app: { ...iosApp, app_ids: [vector.app_id] },
    environments: [vector.environment],
    roots: appleRoots,
    now: Date.parse(vector.verify_at),
  }
}

/** The attestation at its own time, for the app that it names. */
export function androidInputOf(vector: KeyAttestationVector): AndroidInput {
  return {
    certificates: vector.chain.map(fromBase64),
    challenge: fromBase64(vector.challenge),
    app: {
      ...androidApp,
      package_name: vector.package,
      signing_certificates_sha256: [Buffer.from(fromBase64(vector.signing_certificate_sha256)).toString('hex')],
    },
    roots: googleRoots,
    now: Date.parse(vector.verify_at),
  }
}
