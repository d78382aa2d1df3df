/** Every way to forge an attestation that is known, with the reason for which it is refused. */
import {
  type AndroidLies,
  type AppleLies,
  androidApp,
  certificate,
  describing,
  keyDescription,
  newPair,
  newRoot,
  nonceExtension,
  pointOf,
  provisioning,
  rootOfTrust,
  sha256,
  usages,
} from './attestations.ts'
import { integer, nothing, octets, oid, sequence, set, tagged } from './der.ts'

const day = 86_400_000

/** The challenge that the attestations must hold. */
export const challenge = new Uint8Array(56).fill(9)

/** The roots that count, of which factories use the last one. */
export const [appleRoot, googleRoot, factoryRoot] = [
  newRoot(),
  newRoot('A root of Android'),
  newRoot('A root of factories', 'P-384', true),
]
const [other, stranger] = [newPair(), newRoot('A stranger')]
const [appleNamesake, googleNamesake] = [newRoot(appleRoot.name), newRoot(googleRoot.name)]

const rsaAlgorithm = sequence(oid('1.2.840.113549.1.1.11'), nothing())
/** A key of P-256, whose signatures have the digest that the algorithm of RSA names. */
const issuerOfP256 = newPair()

/** Title, lie, and the reason of the refusal. */
export const hostileApple: [string, AppleLies, string][] = [
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
  ['a namesake of the root', { intermediate: { signer: appleNamesake.key } }, 'bad_signature'],
  [
    'an unknown critical extension',
    { leaf: { extensions: [{ id: '1.2.3.4', value: nothing(), isCritical: true }] } },
    'malformed',
  ],
  ['a certificate of version 1', { leaf: { version: 0 } }, 'malformed'],
  [
    'a certificate that names two algorithms',
    { intermediate: { innerAlgorithm: sequence(oid('1.2.840.10045.4.3.2')) } },
    'malformed',
  ],
  [
    'a certificate that names the algorithm of another kind of key',
    { leaf: { signer: issuerOfP256, algorithm: rsaAlgorithm }, intermediate: { key: issuerOfP256 } },
    'bad_signature',
  ],
  ['a negative serial number', { leaf: { serial: Buffer.from([0x80, 1]) } }, 'malformed'],
  ['a padded serial number', { leaf: { serial: Buffer.from([0, 1]) } }, 'malformed'],
  ['one certificate', { chain: ([leaf]) => [leaf!] }, 'malformed'],
  ['the root in the chain', { chain: (chain) => [...chain, appleRoot.certificate] }, 'malformed'],
  [
    'a leaf right below the root',
    {
      leaf: { issuer: appleRoot.name, signer: appleRoot.key },
      chain: ([leaf]) => [leaf!, appleRoot.certificate],
    },
    'chain_too_short',
  ],
  [
    'a certificate above 8 KiB',
    { nonceExtensions: (nonce) => [nonceExtension(nonce), { id: '1.2.3.4', value: Buffer.alloc(8_192) }] },
    'malformed',
  ],
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

/** The key of the hostile chains of Android, because one of them is extended with it. */
export const attestedPair = newPair()

export const selfSigned: AndroidLies = { hardware: (properties) => properties.set(704, rootOfTrust(true, 1)) }
export const unmarked = { isAuthority: false, keyUsage: usages.digitalSignature } as const
export const expired = { until: new Date(Date.now() - 1_000) }

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
/** Title, lie, and the reason of the refusal. */
export const hostileAndroid: [string, AndroidLies, string][] = [
  ['another challenge', { challenge: new Uint8Array(56) }, 'wrong_challenge'],
  ['a level of software', { level: 0 }, 'wrong_security_level'],
  ['levels that differ', { level: 1, keyLevel: 2 }, 'wrong_security_level'],
  ['StrongBox under a certificate of the TEE', { level: 2 }, 'wrong_security_level'],
  ['an imported key', { hardware: (one) => one.set(702, integer(2)) }, 'key_imported'],
  ['a key whose origin is not told', { hardware: (one) => one.delete(702) }, 'key_imported'],
  ['an origin that the software tells', { software: (one) => one.set(702, integer(0)) }, 'key_imported'],
  ['a key that decrypts', { hardware: (one) => one.set(1, set(integer(1), integer(2))) }, 'wrong_purpose'],
  ['a key that only verifies', { hardware: (one) => one.set(1, set(integer(3))) }, 'wrong_purpose'],
  ['purposes that the software tells', { software: (one) => one.set(1, set(integer(2))) }, 'wrong_purpose'],
  ['a key of all applications', { hardware: (one) => one.set(600, nothing()) }, 'key_of_all_applications'],
  ['a key of all applications by software', { software: (one) => one.set(600, nothing()) }, 'key_of_all_applications'],
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
  [
    'a second root of trust, of the software',
    { software: (one) => one.set(704, rootOfTrust(true, 0)) },
    'no_root_of_trust',
  ],
  [
    'an application that the hardware tells too',
    { hardware: (one) => one.set(709, octets(sequence(set(), set()))) },
    'no_application',
  ],
  ['a BOOLEAN of 01', { hardware: (one) => one.set(704, rootOfTrust(1, 0)) }, 'malformed'],
  ['another package', { packages: ['com.example.evil'] }, 'wrong_app'],
  ['a second package', { packages: [androidApp.package_name, 'com.example.evil'] }, 'wrong_app'],
  ['a second package behind it', { packages: [androidApp.package_name, 'com.example.zero'] }, 'wrong_app'],
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
  ['a chain that the attested key extends', { chain: (chain) => extended(chain, attestedPair) }, 'extended_chain'],
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
    { middle: { signer: googleNamesake.key }, chain: (chain) => [...chain.slice(0, 3), googleNamesake.certificate] },
    'bad_signature',
  ],
  ['a chain in reverse', { chain: (chain) => chain.reverse() }, 'no_key_description'],
  ['the leaf alone', { chain: ([leaf]) => [leaf!] }, 'chain_too_short'],
  [
    'a leaf right below the root',
    {
      leaf: { issuer: googleRoot.name, signer: googleRoot.key },
      chain: ([leaf]) => [leaf!, googleRoot.certificate],
    },
    'chain_too_short',
  ],
  [
    'a certificate above 8 KiB',
    { leaf: { extensions: [described, { id: '1.2.3.4', value: Buffer.alloc(8_192) }] } },
    'malformed',
  ],
  ['a certificate left out', { chain: (chain) => [chain[0]!, ...chain.slice(2)] }, 'wrong_issuer'],
  ['a certificate twice', { chain: (chain) => [chain[0]!, chain[1]!, ...chain.slice(1)] }, 'wrong_issuer'],
  ['nine certificates', { chain: (chain) => [...chain, ...chain, ...chain].slice(0, 9) }, 'too_long'],
  ['certificates of 8 KiB', { chain: () => Array(8).fill(Buffer.alloc(8_000)) }, 'too_long'],
]
