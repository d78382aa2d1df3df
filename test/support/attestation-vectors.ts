/** Real attestations of public test suites. A clone of this repository alone has none: tests that need them are skipped. */
import * as fs from 'node:fs'
import path from 'node:path'

const file = path.resolve(import.meta.dirname, '../../../shared/vectors/attestation-vectors.json')

interface AppAttestVector {
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
