/** Attestations of App Attest and Key Attestation: real ones, minted ones, and every way to forge one that is known. */
import { describe, expect, it } from 'vitest'
import { verifyAndroid } from '../../src/auth/devices/android.ts'
import { type AppleInput, verifyApple } from '../../src/auth/devices/apple.ts'
import type { Attested } from '../../src/auth/devices/attested.ts'
import type { Refused } from '../../src/auth/devices/chain.ts'
import type { AndroidApp, IosApp } from '../../src/wire/device-apps.ts'
import type { DeviceEnvironment } from '../../src/wire/devices.ts'
import { androidInputOf, appleInputOf, attestationVectors, fromBase64 } from '../support/attestation-vectors.ts'
import {
  type AndroidLies,
  type AppleLies,
  androidApp,
  androidChain,
  appleAttestation,
  bootKey,
  describing,
  iosApp,
  newPair,
  pointOf,
  provisioning,
  sha256,
} from '../support/attestations.ts'
import { element, integer, nothing, set } from '../support/der.ts'
import {
  appleRoot,
  attestedPair,
  challenge,
  expired,
  factoryRoot,
  googleRoot,
  hostileAndroid,
  hostileApple,
  selfSigned,
  unmarked,
} from '../support/hostile-attestations.ts'

if (!attestationVectors) process.stderr.write('the attestations of devices are not here: their tests are skipped\n')

const both: DeviceEnvironment[] = ['production', 'development']
const day = 86_400_000

/** Malformed input throws, and the enrolment refuses it. */
async function verdict(verify: () => Promise<Attested | Refused>): Promise<string> {
  try {
    const result = await verify()
    return 'reason' in result ? result.reason : 'ok'
  } catch (error) {
    expect((error as Error).constructor.name).toMatch(/^(?:DerFault|CborFault)$/)
    return 'malformed'
  }
}

const apple = (attestation: Uint8Array<ArrayBuffer>, app: IosApp = iosApp, environments = both, now = Date.now()) =>
  verifyApple({ attestation, challenge, app, environments, roots: [appleRoot.root], now })
const android = (certificates: Uint8Array<ArrayBuffer>[], app: AndroidApp = androidApp, now = Date.now()) =>
  verifyAndroid({ certificates, challenge, app, roots: [googleRoot.root, factoryRoot.root], now })

describe('App Attest', () => {
  const ofApple = (lies?: AppleLies) => verdict(() => apple(appleAttestation(appleRoot, challenge, lies)))

  it('accepts a key of the app, and tells what it is', async () => {
    const pair = newPair()
    const extensions = new Map<string, Uint8Array | string>([
      ['apple_validation_category_01', Buffer.from([4, 0, 0, 0])],
      ['apple_bundle_version_01', '2.1'],
    ])
    const result = await apple(appleAttestation(appleRoot, challenge, { extensions }, pair))
    expect(result).toMatchObject({
      environment: 'production',
      keyStorage: 'secure_enclave',
      facts: { category: 4, bundle_version: '2.1' },
      rpIdHash: new Uint8Array(sha256(iosApp.app_ids[0]!)),
      point: new Uint8Array(pointOf(pair)),
      keyId: new Uint8Array(sha256(pointOf(pair))),
    })
  })

  it('accepts one of several app ids, a development key where the database admits it, and one root in place of another', async () => {
    const several = { ...iosApp, app_ids: ['ZZZZZ12345.com.example.other', ...iosApp.app_ids] }
    expect(await verdict(() => apple(appleAttestation(appleRoot, challenge), several))).toBe('ok')
    const development = appleAttestation(appleRoot, challenge, { aaguid: 'appattestdevelop' })
    expect(await verdict(() => apple(development))).toBe('ok')
    expect(await verdict(() => apple(development, iosApp, ['production']))).toBe('wrong_environment')
  })

  it('checks the category of an app that names some, where the device tells one', async () => {
    const strict = { ...iosApp, categories: [4] }
    const ofCategory = (category?: number) => {
      const extensions = new Map([['apple_validation_category_01', Buffer.from([category ?? 0, 0, 0, 0])]])
      return verdict(() =>
        apple(appleAttestation(appleRoot, challenge, category === undefined ? {} : { extensions }), strict),
      )
    }
    expect([await ofCategory(4), await ofCategory(), await ofCategory(3)]).toEqual(['ok', 'ok', 'wrong_category'])
  })

  it.each(hostileApple)('refuses %s', async (_title, lies, reason) => {
    expect(await ofApple(lies)).toBe(reason)
  })

  it('does not read the flags: Apple sets them otherwise than WebAuthn does', async () => {
    const extensions = new Map([['apple_bundle_version_01', '1']])
    for (const flags of [0, 0x40, 0x80, 0xc0]) expect(await ofApple({ flags, extensions })).toBe('ok')
  })
})

describe('Key Attestation', () => {
  const ofAndroid = (lies?: AndroidLies, app?: AndroidApp) =>
    verdict(() => android(androidChain(googleRoot, challenge, lies), app))

  it('accepts a key of the app, and tells what it is', async () => {
    const pair = newPair()
    expect(await android(androidChain(googleRoot, challenge, {}, pair))).toMatchObject({
      environment: 'production',
      keyStorage: 'tee',
      facts: { verified_boot: 'verified', os_version: '16.0.0', os_patch_level: '2025-09' },
      rpIdHash: null,
      point: new Uint8Array(pointOf(pair)),
      chainSerials: ['abc01', 'abc02', '5a17'],
    })
  })

  const strongBox: AndroidLies = { level: 2, issuer: { organization: 'StrongBox' } }
  const old: AndroidLies = { isFactory: true, issuer: expired, middle: expired }

  it.each<[string, AndroidLies, AndroidApp]>([
    ['the root left out', { isRootOmitted: true }, androidApp],
    ['StrongBox', strongBox, { ...androidApp, levels: ['strongbox'] }],
    ['a boot key that the settings list', selfSigned, { ...androidApp, boot_keys: [bootKey] }],
    [
      'one of several signers',
      {},
      { ...androidApp, signing_certificates_sha256: ['00'.repeat(32), ...androidApp.signing_certificates_sha256] },
    ],
    ['a key that only signs', { hardware: (properties) => properties.set(1, set(integer(2))) }, androidApp],
  ])('accepts %s', async (_title, lies, app) => {
    expect(await ofAndroid(lies, app)).toBe('ok')
  })

  it('accepts an unmarked authority at position 1 of a factory chain alone', async () => {
    const of = (root: typeof googleRoot, lies: AndroidLies) =>
      verdict(() => android(androidChain(root, challenge, lies)))
    expect(await of(factoryRoot, { isFactory: true, issuer: unmarked })).toBe('ok')
    expect(await of(factoryRoot, { isFactory: true, middle: { ...unmarked, pathLength: undefined as never } })).toMatch(
      /not_an_authority|malformed/,
    )
    expect(await of(googleRoot, { isFactory: true, issuer: unmarked })).toBe('not_an_authority')
    expect(await of(factoryRoot, { issuer: { ...unmarked, extensions: [provisioning] } })).toBe('not_an_authority')
  })

  it('accepts factory chains that have expired only where the settings say so', async () => {
    const lenient = { ...androidApp, accept_expired_factory_chains: true }
    const of = (root: typeof googleRoot, lies: AndroidLies, app?: AndroidApp) =>
      verdict(() => android(androidChain(root, challenge, lies), app))
    expect(await of(factoryRoot, old)).toBe('expired')
    expect(await of(factoryRoot, old, lenient)).toBe('ok')
    expect(await of(googleRoot, old, lenient)).toBe('expired')
    expect(await of(factoryRoot, { ...old, isFactory: false }, lenient)).toBe('expired')
  })

  it.each(hostileAndroid)('refuses %s', async (_title, lies, reason) => {
    expect(await verdict(() => android(androidChain(googleRoot, challenge, lies, attestedPair)))).toBe(reason)
  })

  it('refuses the level that the settings leave out', async () => {
    expect(await ofAndroid(strongBox, { ...androidApp, levels: ['tee'] })).toBe('wrong_security_level')
    expect(await ofAndroid({}, { ...androidApp, levels: ['strongbox'] })).toBe('wrong_security_level')
  })

  it('refuses everything under a root whose time is over', async () => {
    const late = googleRoot.root.until + 1
    const certificates = androidChain(googleRoot, challenge, {
      issuer: { until: new Date(late + day) },
      middle: { until: new Date(late + day) },
    })
    expect(await verdict(() => android(certificates, androidApp, late))).toBe('root_expired')
  })

  it('reads DER that is nested deeply, one level at a time', async () => {
    let nested: Buffer = nothing()
    for (let depth = 0; depth < 3_000; depth++) nested = element(0x30, nested)
    expect(await ofAndroid({ leaf: { extensions: [{ id: describing, value: nested.subarray(0, 7_000) }] } })).toBe(
      'malformed',
    )
  })
})

describe.runIf(attestationVectors)('attestations of real devices', () => {
  it.each(attestationVectors?.app_attest ?? [])('$name', async (vector) => {
    const input: AppleInput = { ...appleInputOf(vector), environments: both }
    const { now } = input
    const result = await verifyApple(input)
    expect(result).toMatchObject({
      environment: vector.environment,
      point: fromBase64(vector.public_key),
      keyId: fromBase64(vector.key_id),
    })
    for (const late of [now + 400 * day, now - 400 * day]) {
      expect(await verdict(() => verifyApple({ ...input, now: late }))).toMatch(/^(?:expired|not_yet_valid)$/)
    }
  })

  it.each(attestationVectors?.key_attestation ?? [])('$name', async (vector) => {
    const input = androidInputOf(vector)
    expect(await verdict(() => verifyAndroid(input))).toBe(vector.result)
    // the pinned key verifies also where the root's certificate is left out
    if (vector.result === 'ok')
      expect(await verdict(() => verifyAndroid({ ...input, certificates: input.certificates.slice(0, -1) }))).toBe('ok')
  })
})
