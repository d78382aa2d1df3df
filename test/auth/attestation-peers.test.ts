/**
 * The verdicts of other implementations on the same inputs. They agree on every genuine attestation. Where they accept what is refused
 * here, the test says so:
 *
 * - node-app-attest 1.0.1 looks at no time, so it accepts a leaf that has expired, and it accepts bytes after the key's credential data.
 * - appattest-checker-node 1.0.3 looks at the time of its own clock alone, and takes a development key for one of production.
 * - @peculiar/asn1-android 2.10.0 does not read descriptions of Android 17's ML-DSA keys, which are refused here for their key.
 * - It reads a BOOLEAN of 01, which DER forbids.
 */
import 'reflect-metadata' // @peculiar/x509 asks for it
import { createHash } from 'node:crypto'
import { KeyDescription } from '@peculiar/asn1-android'
import { AsnConvert } from '@peculiar/asn1-schema'
import { X509Certificate } from '@peculiar/x509'
import * as checker from 'appattest-checker-node'
import * as nodeAppAttest from 'node-app-attest'
import { describe, expect, it } from 'vitest'
import { importPoint, signedBy } from '../../runtime/devices/proof.ts'
import { verifyAndroid } from '../../src/auth/devices/android.ts'
import { verifyApple } from '../../src/auth/devices/apple.ts'
import { readCertificate } from '../../src/auth/devices/certificate.ts'
import {
  type AppAttestVector,
  androidInputOf,
  appleInputOf,
  attestationVectors,
  fromBase64,
} from '../support/attestation-vectors.ts'
import { androidApp, androidChain, describing, newRoot, rootOfTrust } from '../support/attestations.ts'

if (!attestationVectors) process.stderr.write('the attestations of devices are not here: their tests are skipped\n')

const day = 86_400_000

/** The verdict of this package. */
async function own(vector: AppAttestVector, change: Partial<AppAttestVector> & { at?: number } = {}): Promise<boolean> {
  const input = appleInputOf({ ...vector, ...change })
  const result = await verifyApple({ ...input, now: change.at ?? input.now }).catch(() => ({ reason: 'malformed' })) // the enrolment refuses input that is malformed
  return !('reason' in result)
}

function ofNodeAppAttest(vector: AppAttestVector, change: Partial<AppAttestVector> = {}): boolean {
  const { app_id, client_data, attestation, key_id, environment } = { ...vector, ...change }
  try {
    nodeAppAttest.verifyAttestation({
      attestation: Buffer.from(attestation, 'base64'),
      challenge: Buffer.from(client_data, 'base64'),
      keyId: key_id,
      teamIdentifier: app_id.slice(0, app_id.indexOf('.')),
      bundleIdentifier: app_id.slice(app_id.indexOf('.') + 1),
      allowDevelopmentEnvironment: environment === 'development',
    } as never)
    return true
  } catch {
    return false
  }
}

describe.runIf(attestationVectors).each(attestationVectors?.app_attest ?? [])('$name', (vector) => {
  it('is accepted here and by node-app-attest', async () => {
    expect([await own(vector), ofNodeAppAttest(vector)]).toEqual([true, true])
  })

  it.each<[string, Partial<AppAttestVector>]>([
    ['another app', { app_id: 'ZZZZZZZZZZ.com.example.other' }],
    ['another challenge', { client_data: 'AAAA' }],
    ['a cut attestation', { attestation: vector.attestation.slice(0, 4_000) }],
  ])('with %s is refused by both', async (_title, change) => {
    expect([await own(vector, change), ofNodeAppAttest(vector, change)]).toEqual([false, false])
  })

  it('has expired, which node-app-attest does not see', async () => {
    expect([await own(vector, { at: Date.now() + 400 * day }), ofNodeAppAttest(vector)]).toEqual([false, true])
  })

  it('has an assertion that both accept, and refuse over another text', async () => {
    if (!vector.assertion) return
    const { object, client_data } = vector.assertion
    const spki = readCertificateKey(vector)
    const key = (await importPoint(fromBase64(vector.public_key)))!
    for (const [text, isGood] of [
      [client_data, true],
      ['AAAA', false],
    ] as const) {
      const mine = await signedBy(key, { form: 'apple', proof: fromBase64(object) } as never, fromBase64(text))
      const digest = createHash('sha256').update(Buffer.from(text, 'base64')).digest()
      const other = await checker.verifyAssertion(digest, spki, vector.app_id, Buffer.from(object, 'base64'))
      expect([mine !== undefined, 'signCount' in other]).toEqual([isGood, isGood])
    }
  })
})

function readCertificateKey(vector: AppAttestVector): string {
  const point = fromBase64(vector.public_key)
  const spki = Buffer.concat([Buffer.from('3059301306072a8648ce3d020106082a8648ce3d030107034200', 'hex'), point])
  return `-----BEGIN PUBLIC KEY-----\n${spki.toString('base64')}\n-----END PUBLIC KEY-----`
}

describe.runIf(attestationVectors).each(attestationVectors?.key_attestation ?? [])('$name', (vector) => {
  it('has certificates that @peculiar/x509 reads and verifies as this package does', async () => {
    const chain = vector.chain.map(fromBase64)
    for (const [position, bytes] of chain.entries()) {
      const [mine, other] = [readCertificate(bytes), new X509Certificate(bytes)]
      expect(other.serialNumber.replace(/^0+(?=.)/, '')).toBe(mine.serial)
      expect([other.notBefore.getTime(), other.notAfter.getTime()]).toEqual([mine.notBefore, mine.notAfter])
      const issuer = chain[position + 1]
      if (issuer) expect(await other.verify({ publicKey: new X509Certificate(issuer), signatureOnly: true })).toBe(true)
    }
  })

  it('has a description that @peculiar/asn1-android reads as this package judges it', async () => {
    const extension = readCertificate(fromBase64(vector.chain[0]!)).extensions.get(describing)!
    if (vector.name.includes('MLDSA')) {
      expect(() => AsnConvert.parse(extension, KeyDescription)).toThrow('AuthorizationList')
      return
    }
    const described = AsnConvert.parse(extension, KeyDescription)
    const root = described.teeEnforced.rootOfTrust
    expect(Buffer.from(described.attestationChallenge.buffer).toString('base64')).toBe(vector.challenge)
    const isSound = root?.deviceLocked === true && root.verifiedBootState === 0
    const isSameLevel = described.attestationSecurityLevel === described.keymasterSecurityLevel
    const isHardware = described.attestationSecurityLevel > 0
    const result = await verifyAndroid(androidInputOf(vector))
    if (!('reason' in result)) expect([isSound, isSameLevel, isHardware]).toEqual([true, true, true])
    if (vector.result === 'bootloader_unlocked') expect(isSound).toBe(false)
  })
})

describe('a description that is no DER', () => {
  it('is read by @peculiar/asn1-android, and refused here', async () => {
    const root = newRoot()
    const challenge = new Uint8Array(16)
    const certificates = androidChain(root, challenge, { hardware: (one) => one.set(704, rootOfTrust(1, 0)) })
    const extension = readCertificate(certificates[0]!).extensions.get(describing)!
    expect(AsnConvert.parse(extension, KeyDescription).teeEnforced.rootOfTrust?.deviceLocked).toBe(true)
    const input = { certificates, challenge, app: androidApp, roots: [root.root], now: Date.now() }
    await expect(verifyAndroid(input)).rejects.toThrow('a BOOLEAN is 00 or ff')
  })
})
