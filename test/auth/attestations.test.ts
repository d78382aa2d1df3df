/** Attestations of App Attest and Key Attestation: real ones, minted ones, and every way to forge one that is known. */
import { describe, expect, it } from 'vitest'
import { verifyAndroid } from '../../src/auth/devices/android.ts'
import { verifyApple } from '../../src/auth/devices/apple.ts'
import type { Attested } from '../../src/auth/devices/attested.ts'
import type { Refused } from '../../src/auth/devices/chain.ts'
import { appleRoots, googleRoots } from '../../src/auth/devices/roots.ts'
import type { AndroidApp, IosApp } from '../../src/wire/device-apps.ts'
import type { DeviceEnvironment } from '../../src/wire/devices.ts'
import { attestationVectors, fromBase64 } from '../support/attestation-vectors.ts'
import {
  type AndroidLies,
  type AppleLies,
  androidApp,
  androidChain,
  appleAttestation,
  bootKey,
  certificate,
  describing,
  iosApp,
  keyDescription,
  newPair,
  newRoot,
  nonceExtension,
  pointOf,
  provisioning,
  rootOfTrust,
  sha256,
  usages,
} from '../support/attestations.ts'
import { element, integer, nothing, octets, sequence, set, tagged } from '../support/der.ts'

if (!attestationVectors) process.stderr.write('the attestations of devices are not here: their tests are skipped\n')

const challenge = new Uint8Array(56).fill(9)
const both: DeviceEnvironment[] = ['production', 'development']
const day = 86_400_000
const [appleRoot, googleRoot, factoryRoot] = [
  newRoot(),
  newRoot('A root of Android'),
  newRoot('A root of factories', 'P-384', true),
]

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

  const [other, stranger] = [newPair(), newRoot('A stranger')]
  const namesake = newRoot(appleRoot.name)
  const hostile: [string, AppleLies, string][] = [
    ['another app', { appId: 'ABCDE12345.com.example.evil' }, 'wrong_app'],
    ['another challenge', { challenge: new Uint8Array(56) }, 'wrong_challenge'],
    ['a counter above 0', { counter: 1 }, 'wrong_counter'],
    ['another AAGUID', { aaguid: 'appattestdevelo' }, 'wrong_environment'],
    ['the key of another credential', { cosePoint: pointOf(other) }, 'wrong_key'],
    ['the id of another credential', { credentialId: sha256(pointOf(other)) }, 'wrong_key'],
    [
      'a swapped key in the leaf',
      { leaf: { spki: other.publicKey.export({ type: 'spki', format: 'der' }) } },
      'wrong_key',
    ],
    ['another format', { format: 'packed' }, 'malformed'],
    ['no nonce', { nonceExtensions: () => [] }, 'wrong_challenge'],
    ['the nonce twice', { nonceExtensions: (nonce) => [nonceExtension(nonce), nonceExtension(nonce)] }, 'malformed'],
    [
      'the nonce without its tag',
      { nonceExtensions: (nonce) => [{ ...nonceExtension(nonce), value: sequence(octets(nonce)) }] },
      'wrong_challenge',
    ],
    [
      'the nonce beside another',
      {
        nonceExtensions: (nonce) => [
          { ...nonceExtension(nonce), value: sequence(tagged(1, octets(nonce)), tagged(2, octets(nonce))) },
        ],
      },
      'wrong_challenge',
    ],
    [
      'a longer nonce',
      {
        nonceExtensions: (nonce) => [
          { ...nonceExtension(nonce), value: sequence(tagged(1, octets(Buffer.concat([nonce, Buffer.from([0])])))) },
        ],
      },
      'wrong_challenge',
    ],
    [
      'bytes after the nonce',
      {
        nonceExtensions: (nonce) => [
          { ...nonceExtension(nonce), value: Buffer.concat([nonceExtension(nonce).value, Buffer.from([0])]) },
        ],
      },
      'malformed',
    ],
    ['an expired leaf', { leaf: { until: new Date(Date.now() - 1_000) } }, 'expired'],
    ['a leaf of tomorrow', { leaf: { from: new Date(Date.now() + day / 2) } }, 'not_yet_valid'],
    ['an expired intermediate', { intermediate: { until: new Date(Date.now() - 1_000) } }, 'expired'],
    ['an intermediate of tomorrow', { intermediate: { from: new Date(Date.now() + day / 2) } }, 'not_yet_valid'],
    [
      'an intermediate that is no authority',
      { intermediate: { isAuthority: false, keyUsage: usages.digitalSignature } },
      'malformed',
    ],
    [
      'an intermediate that may sign no certificate',
      { intermediate: { keyUsage: usages.digitalSignature } },
      'not_an_authority',
    ],
    ['a leaf that is an authority', { leaf: { isAuthority: true } }, 'leaf_is_authority'],
    ['a leaf of another issuer', { leaf: { issuer: 'Another' } }, 'wrong_issuer'],
    ['a leaf that it signed itself', { leaf: { signer: other } }, 'bad_signature'],
    ['an unknown root', { intermediate: { issuer: stranger.name, signer: stranger.key } }, 'unknown_root'],
    ['a namesake of the root', { intermediate: { signer: namesake.key } }, 'bad_signature'],
    [
      'an unknown critical extension',
      { leaf: { extensions: [{ id: '1.2.3.4', value: nothing(), isCritical: true }] } },
      'malformed',
    ],
    ['a certificate of version 1', { leaf: { version: 0 } }, 'malformed'],
    ['a negative serial number', { leaf: { serial: Buffer.from([0x80, 1]) } }, 'malformed'],
    ['a padded serial number', { leaf: { serial: Buffer.from([0, 1]) } }, 'malformed'],
    ['one certificate', { chain: ([leaf]) => [leaf!] }, 'malformed'],
    ['the root in the chain', { chain: (chain) => [...chain, appleRoot.certificate] }, 'malformed'],
    ['certificates in reverse', { chain: (chain) => chain.reverse() }, 'unknown_root'],
    ['2,000 certificates', { chain: ([leaf]) => Array(2_000).fill(leaf!.subarray(0, 4)) }, 'malformed'],
    ['bytes after the key', { trailing: Buffer.from([0]) }, 'malformed'],
    ['two maps of extensions', { extensions: new Map(), trailing: Buffer.from([0xa0]) }, 'malformed'],
    [
      'a category of another length',
      { extensions: new Map([['apple_validation_category_01', Buffer.from([4])]]) },
      'malformed',
    ],
  ]
  it.each(hostile)('refuses %s', async (_title, lies, reason) => {
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
  const selfSigned: AndroidLies = { hardware: (properties) => properties.set(704, rootOfTrust(true, 1)) }
  const unmarked = { isAuthority: false, keyUsage: usages.digitalSignature } as const
  const expired = { until: new Date(Date.now() - 1_000) }
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

  const [other, stranger, namesake] = [newPair(), newRoot('A stranger'), newRoot(googleRoot.name)]
  const described = { id: describing, value: keyDescription(challenge) }
  /** The attested key signs another leaf, which says what its holder likes. */
  const extended = (chain: Buffer[], pair: ReturnType<typeof newPair>) => [
    certificate({
      subject: 'Forged',
      issuer: 'Android Keystore Key',
      key: other,
      signer: pair,
      extensions: [described],
    }),
    ...chain,
  ]
  const attested = newPair()
  const hostile: [string, AndroidLies, string][] = [
    ['another challenge', { challenge: new Uint8Array(56) }, 'wrong_challenge'],
    ['a level of software', { level: 0 }, 'wrong_security_level'],
    ['levels that differ', { level: 1, keyLevel: 2 }, 'wrong_security_level'],
    ['StrongBox under a certificate of the TEE', { level: 2 }, 'wrong_security_level'],
    ['an imported key', { hardware: (one) => one.set(702, integer(2)) }, 'key_imported'],
    ['a key whose origin is not told', { hardware: (one) => one.delete(702) }, 'key_imported'],
    ['an origin that the software tells', { software: (one) => one.set(702, integer(0)) }, 'key_imported'],
    ['a key that decrypts', { hardware: (one) => one.set(1, set(integer(1), integer(2))) }, 'wrong_purpose'],
    ['a key that only verifies', { hardware: (one) => one.set(1, set(integer(3))) }, 'wrong_purpose'],
    ['a key of all applications', { hardware: (one) => one.set(600, nothing()) }, 'key_of_all_applications'],
    [
      'a key of all applications by software',
      { software: (one) => one.set(600, nothing()) },
      'key_of_all_applications',
    ],
    ['an unlocked bootloader', { hardware: (one) => one.set(704, rootOfTrust(false, 0)) }, 'bootloader_unlocked'],
    ['a system that is not verified', { hardware: (one) => one.set(704, rootOfTrust(true, 2)) }, 'boot_not_verified'],
    ['a boot that failed', { hardware: (one) => one.set(704, rootOfTrust(true, 3)) }, 'boot_not_verified'],
    ['a boot key that is not listed', selfSigned, 'unknown_boot_key'],
    ['no root of trust', { hardware: (one) => one.delete(704) }, 'no_root_of_trust'],
    [
      'a root of trust of the software',
      { hardware: (one) => one.delete(704), software: (one) => one.set(704, rootOfTrust(true, 0)) },
      'no_root_of_trust',
    ],
    ['a BOOLEAN of 01', { hardware: (one) => one.set(704, rootOfTrust(1, 0)) }, 'malformed'],
    ['another package', { packages: ['com.example.evil'] }, 'wrong_app'],
    ['a second package', { packages: [androidApp.package_name, 'com.example.evil'] }, 'wrong_app'],
    ['no package', { packages: [] }, 'wrong_app'],
    ['another signer', { signers: ['11'.repeat(32)] }, 'wrong_signer'],
    ['a second signer', { signers: [...androidApp.signing_certificates_sha256, '11'.repeat(32)] }, 'wrong_signer'],
    ['no signer', { signers: [] }, 'wrong_signer'],
    ['no application', { software: (one) => one.delete(709) }, 'no_application'],
    ['tags out of order', { ordered: (entries) => [...entries].reverse() }, 'malformed'],
    ['a tag twice', { ordered: ([first, ...rest]) => [first!, first!, ...rest] }, 'malformed'],
    ['no description', { describes: false }, 'no_key_description'],
    ['a description that stands twice', { leaf: { extensions: [described, described] } }, 'malformed'],
    ['a description on the issuer too', { issuer: { extensions: [provisioning, described] } }, 'extended_chain'],
    ['a chain that the attested key extends', { chain: (chain) => extended(chain, attested) }, 'extended_chain'],
    [
      'a key of P-384',
      { leaf: { spki: newPair('P-384').publicKey.export({ type: 'spki', format: 'der' }) } },
      'wrong_key',
    ],
    ['an expired issuer', { issuer: expired }, 'expired'],
    ['an issuer of tomorrow', { issuer: { from: new Date(Date.now() + day / 2) } }, 'not_yet_valid'],
    ['a path that is too long', { middle: { pathLength: 0 } }, 'path_too_long'],
    ['an issuer that is no authority', { issuer: unmarked }, 'not_an_authority'],
    ['a negative serial number', { issuer: { serial: Buffer.from([0xff, 1]) } }, 'malformed'],
    [
      'an unknown root',
      {
        middle: { issuer: stranger.name, signer: stranger.key },
        chain: (chain) => [...chain.slice(0, 3), stranger.certificate],
      },
      'unknown_root',
    ],
    [
      'a namesake of the root',
      { middle: { signer: namesake.key }, chain: (chain) => [...chain.slice(0, 3), namesake.certificate] },
      'bad_signature',
    ],
    ['a chain in reverse', { chain: (chain) => chain.reverse() }, 'no_key_description'],
    ['the leaf alone', { chain: ([leaf]) => [leaf!] }, 'chain_too_short'],
    ['a certificate left out', { chain: (chain) => [chain[0]!, ...chain.slice(2)] }, 'wrong_issuer'],
    ['a certificate twice', { chain: (chain) => [chain[0]!, chain[1]!, ...chain.slice(1)] }, 'wrong_issuer'],
    ['nine certificates', { chain: (chain) => [...chain, ...chain, ...chain].slice(0, 9) }, 'too_long'],
    ['certificates of 8 KiB', { chain: () => Array(8).fill(Buffer.alloc(8_000)) }, 'too_long'],
  ]
  it.each(hostile)('refuses %s', async (_title, lies, reason) => {
    expect(await verdict(() => android(androidChain(googleRoot, challenge, lies, attested)))).toBe(reason)
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

/** A generator of numbers whose course a test can repeat (mulberry32). */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), 1 | state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Changes a byte, removes some, repeats some, or inserts some. */
function damaged(bytes: Uint8Array<ArrayBuffer>, next: () => number): Uint8Array<ArrayBuffer> {
  const at = Math.floor(next() * bytes.length)
  const count = 1 + Math.floor(next() * 8)
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
  switch (Math.floor(next() * 4)) {
    case 0: {
      const copy = new Uint8Array(bytes)
      copy[at]! ^= 1 << Math.floor(next() * 8)
      return copy
    }
    case 1:
      return new Uint8Array(Buffer.concat([before, after.subarray(count)]))
    case 2:
      return new Uint8Array(Buffer.concat([before, after.subarray(0, count), after]))
    default:
      return new Uint8Array(Buffer.concat([before, Buffer.alloc(count, Math.floor(next() * 256)), after]))
  }
}

describe('10,000 damaged inputs', () => {
  it('of App Attest are refused, and none throws anything else', async () => {
    const whole = appleAttestation(appleRoot, challenge)
    // nothing signs the receipt here: only Apple could tell that it was changed
    const receipt = Buffer.from(whole).indexOf('a receipt')
    const next = random(1)
    for (let index = 0; index < 5_000; index++) {
      const input = damaged(whole, next)
      const isReceiptAlone =
        Buffer.from(input).equals(Buffer.from(whole)) || differsWithin(whole, input, receipt, receipt + 9)
      if (!isReceiptAlone) expect(await verdict(() => apple(input))).not.toBe('ok')
    }
  }, 120_000)

  it('of Key Attestation are refused, and none throws anything else', async () => {
    const chain = androidChain(googleRoot, challenge)
    const next = random(2)
    for (let index = 0; index < 5_000; index++) {
      const position = Math.floor(next() * chain.length)
      const input = chain.with(position, damaged(chain[position]!, next))
      if (input.some((one, at) => !Buffer.from(one).equals(chain[at]!)))
        expect(await verdict(() => android(input))).not.toBe('ok')
    }
  }, 120_000)
})

function differsWithin(one: Uint8Array, other: Uint8Array, from: number, to: number): boolean {
  if (one.length !== other.length) return false
  return one.every((byte, index) => byte === other[index] || (index >= from && index < to))
}

describe('attestations of real devices', () => {
  it.runIf(attestationVectors).each(attestationVectors?.app_attest ?? [])('$name', async (vector) => {
    const app: IosApp = { ...iosApp, app_ids: [vector.app_id] }
    const input = {
      attestation: fromBase64(vector.attestation),
      challenge: fromBase64(vector.client_data),
      app,
      roots: appleRoots,
    }
    const now = Date.parse(vector.verify_at)
    const result = await verifyApple({ ...input, environments: both, now })
    expect(result).toMatchObject({
      environment: vector.environment,
      point: fromBase64(vector.public_key),
      keyId: fromBase64(vector.key_id),
    })
    for (const late of [now + 400 * day, now - 400 * day]) {
      expect(await verdict(() => verifyApple({ ...input, environments: both, now: late }))).toMatch(
        /^(?:expired|not_yet_valid)$/,
      )
    }
  })

  it.runIf(attestationVectors).each(attestationVectors?.key_attestation ?? [])('$name', async (vector) => {
    const app: AndroidApp = {
      ...androidApp,
      package_name: vector.package,
      signing_certificates_sha256: [Buffer.from(fromBase64(vector.signing_certificate_sha256)).toString('hex')],
    }
    const certificates = vector.chain.map(fromBase64)
    const input = {
      challenge: fromBase64(vector.challenge),
      app,
      roots: googleRoots,
      now: Date.parse(vector.verify_at),
    }
    expect(await verdict(() => verifyAndroid({ ...input, certificates }))).toBe(vector.result)
    // the pinned key verifies also where the root's certificate is left out
    if (vector.result === 'ok')
      expect(await verdict(() => verifyAndroid({ ...input, certificates: certificates.slice(0, -1) }))).toBe('ok')
  })
})
