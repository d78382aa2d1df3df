/** Attestations of App Attest and Key Attestation under roots that a test makes, right or with one thing wrong. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { Root } from '../../src/auth/devices/roots.ts'
import type { AndroidApp, IosApp } from '../../src/wire/device-apps.ts'
import { bits, boolean, enumerated, integer, nothing, octets, oid, sequence, set, tagged, time, utf8 } from './der.ts'

const day = 86_400_000
const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest()
const bytesOf = (buffer: Uint8Array) => new Uint8Array(buffer)

export interface Pair {
  privateKey: KeyObject
  publicKey: KeyObject
}

export const newPair = (curve: 'P-256' | 'P-384' = 'P-256'): Pair => generateKeyPairSync('ec', { namedCurve: curve })
const spkiOf = ({ publicKey }: Pair) => publicKey.export({ type: 'spki', format: 'der' })
/** The uncompressed point of a P-256 key. */
export const pointOf = (pair: Pair) => Buffer.from(spkiOf(pair).subarray(-65))

export interface Extension {
  id: string
  value: Uint8Array
  isCritical?: boolean
}

export interface CertificateOptions {
  subject: string
  issuer: string
  key: Pair
  signer: Pair
  serial?: Uint8Array
  from?: Date
  until?: Date
  isAuthority?: boolean
  pathLength?: number
  keyUsage?: number
  extensions?: Extension[]
  version?: number
  /** Replaces the algorithm within the part that is signed. */
  innerAlgorithm?: Uint8Array
  /** Replaces both algorithms. The certificate is signed by ECDSA all the same. */
  algorithm?: Uint8Array
  /** Another SubjectPublicKeyInfo than the key's own. */
  spki?: Uint8Array
  /** An attribute of the subject beside its name. */
  organization?: string
  issuerOrganization?: string
}

const name = (text: string, organization?: string) =>
  sequence(
    ...(organization === undefined ? [] : [set(sequence(oid('2.5.4.10'), utf8(organization)))]),
    set(sequence(oid('2.5.4.3'), utf8(text))),
  )

export function certificate(options: CertificateOptions): Buffer {
  const { subject, issuer, key, signer, serial = Buffer.from('5a17', 'hex'), version = 2, extensions = [] } = options
  const {
    from = new Date(Date.now() - day),
    until = new Date(Date.now() + day),
    isAuthority,
    pathLength,
    keyUsage,
  } = options
  const isP384 = spkiOf(signer).length > 100
  const algorithm = options.algorithm ?? sequence(oid(isP384 ? '1.2.840.10045.4.3.3' : '1.2.840.10045.4.3.2'))
  const all: Extension[] = [...extensions]
  if (isAuthority !== undefined) {
    const constraints = sequence(
      ...(isAuthority ? [boolean(true)] : []),
      ...(pathLength === undefined ? [] : [integer(pathLength)]),
    )
    all.push({ id: '2.5.29.19', value: constraints, isCritical: true })
  }
  if (keyUsage !== undefined)
    all.push({ id: '2.5.29.15', value: bits(Buffer.from([keyUsage]), trailingZeros(keyUsage)), isCritical: true })
  const tbs = sequence(
    tagged(0, integer(version)),
    integer(serial),
    options.innerAlgorithm ?? algorithm,
    name(issuer, options.issuerOrganization),
    sequence(time(from), time(until)),
    name(subject, options.organization),
    options.spki ? Buffer.from(options.spki) : spkiOf(key),
    tagged(
      3,
      sequence(
        ...all.map(({ id, value, isCritical }) =>
          sequence(oid(id), ...(isCritical ? [boolean(true)] : []), octets(value)),
        ),
      ),
    ),
  )
  return sequence(tbs, algorithm, bits(sign(isP384 ? 'sha384' : 'sha256', tbs, signer.privateKey)))
}

function trailingZeros(octet: number): number {
  let count = 0
  while (count < 7 && ((octet >> count) & 1) === 0) count++
  return count
}

/** The bits digitalSignature and keyCertSign. */
export const usages = { digitalSignature: 0x80, keyCertSign: 0x04 }

export interface Authority {
  name: string
  key: Pair
  certificate: Buffer
  root: Root
}

/** A root of its own. */
export function newRoot(
  subject = 'A root of this test',
  curve: 'P-256' | 'P-384' = 'P-384',
  hasFactoryChains = false,
): Authority {
  const key = newPair(curve)
  const until = new Date(Date.now() + 100 * day)
  const made = certificate({
    subject,
    issuer: subject,
    key,
    signer: key,
    isAuthority: true,
    keyUsage: usages.keyCertSign,
    until,
  })
  const root: Root = {
    subject: bytesOf(name(subject)),
    spki: bytesOf(spkiOf(key)),
    kind: curve,
    until: until.getTime(),
    ...(hasFactoryChains ? { hasFactoryChains: true as const } : {}),
  }
  return { name: subject, key, certificate: made, root }
}

// CBOR

const head = (major: number, count: number) =>
  count < 24
    ? [(major << 5) | count]
    : count < 256
      ? [(major << 5) | 24, count]
      : [(major << 5) | 25, count >> 8, count & 255]
type Cbor = number | string | Uint8Array | Cbor[] | Map<string | number, Cbor>

function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return Buffer.from(value < 0 ? head(1, -1 - value) : head(0, value))
  if (typeof value === 'string')
    return Buffer.concat([Buffer.from(head(3, Buffer.byteLength(value))), Buffer.from(value)])
  if (value instanceof Uint8Array) return Buffer.concat([Buffer.from(head(2, value.length)), value])
  if (Array.isArray(value)) return Buffer.concat([Buffer.from(head(4, value.length)), ...value.map(cbor)])
  return Buffer.concat([
    Buffer.from(head(5, value.size)),
    ...[...value].flatMap(([key, one]) => [cbor(key), cbor(one)]),
  ])
}

// App Attest

export interface AppleLies {
  appId?: string
  challenge?: Uint8Array
  aaguid?: string
  counter?: number
  /** The key of the credential, where it is not that of the leaf. */
  cosePoint?: Buffer
  credentialId?: Buffer
  leaf?: Partial<CertificateOptions>
  intermediate?: Partial<CertificateOptions>
  /** The extensions of the leaf in place of the one with the nonce. */
  nonceExtensions?: (nonce: Buffer) => Extension[]
  extensions?: Map<string, Cbor>
  /** Appended to the authenticator data, covered by the nonce. */
  trailing?: Uint8Array
  chain?: (chain: Buffer[]) => Buffer[]
  format?: string
  flags?: number
}

export const iosApp: IosApp = { application_key: 'shop', platform: 'ios', app_ids: ['ABCDE12345.com.example.shop'] }

const nonceId = '1.2.840.113635.100.8.2'
export const nonceExtension = (nonce: Buffer): Extension => ({ id: nonceId, value: sequence(tagged(1, octets(nonce))) })

/** The authenticator data of an attestation. */
function appleData(pair: Pair, lies: AppleLies): Buffer {
  const point = lies.cosePoint ?? pointOf(pair)
  const counter = Buffer.alloc(4)
  counter.writeUInt32BE(lies.counter ?? 0)
  const key = new Map<string | number, Cbor>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, point.subarray(1, 33)],
    [-3, point.subarray(33)],
  ])
  return Buffer.concat([
    sha256(lies.appId ?? iosApp.app_ids[0]!),
    Buffer.from([lies.flags ?? 0x40]),
    counter,
    Buffer.from((lies.aaguid ?? 'appattest').padEnd(16, '\0')),
    Buffer.from([0, 32]),
    lies.credentialId ?? sha256(pointOf(pair)),
    cbor(key),
    ...(lies.extensions ? [cbor(lies.extensions)] : []),
    lies.trailing ?? Buffer.alloc(0),
  ])
}

export function appleAttestation(
  root: Authority,
  challenge: Uint8Array,
  lies: AppleLies = {},
  pair = newPair(),
): Uint8Array<ArrayBuffer> {
  const authData = appleData(pair, lies)
  const nonce = sha256(Buffer.concat([authData, sha256(lies.challenge ?? challenge)]))
  const middle = newPair('P-384')
  const [leafName, middleName] = ['A leaf', 'An intermediate']
  const intermediate = certificate({
    subject: middleName,
    issuer: root.name,
    key: middle,
    signer: root.key,
    isAuthority: true,
    pathLength: 0,
    keyUsage: usages.keyCertSign,
    ...lies.intermediate,
  })
  const leaf = certificate({
    subject: leafName,
    issuer: middleName,
    key: pair,
    signer: middle,
    isAuthority: false,
    keyUsage: usages.digitalSignature,
    extensions: lies.nonceExtensions ? lies.nonceExtensions(nonce) : [nonceExtension(nonce)],
    ...lies.leaf,
  })
  const chain = [leaf, intermediate]
  const statement = new Map<string | number, Cbor>([
    ['x5c', lies.chain ? lies.chain(chain) : chain],
    ['receipt', Buffer.from('a receipt')],
  ])
  return bytesOf(
    cbor(
      new Map<string | number, Cbor>([
        ['fmt', lies.format ?? 'apple-appattest'],
        ['attStmt', statement],
        ['authData', authData],
      ]),
    ),
  )
}

/** An assertion of App Attest over a text. */
export function appleAssertion(
  pair: Pair,
  text: string,
  { appId = iosApp.app_ids[0]!, extensions }: AppleLies = {},
  flags = 0x40,
): Buffer {
  const counter = Buffer.from([0, 0, 0, 1])
  const data = Buffer.concat([sha256(appId), Buffer.from([flags]), counter, ...(extensions ? [cbor(extensions)] : [])])
  const signature = sign('sha256', sha256(Buffer.concat([data, sha256(text)])), pair.privateKey)
  return cbor(
    new Map<string | number, Cbor>([
      ['signature', signature],
      ['authenticatorData', data],
    ]),
  )
}

// Key Attestation

const describing = '1.3.6.1.4.1.11129.2.1.17'
export const provisioning: Extension = { id: '1.3.6.1.4.1.11129.2.1.30', value: Buffer.from('a1011820', 'hex') }

export interface AndroidLies {
  challenge?: Uint8Array
  level?: number
  keyLevel?: number
  hardware?: (properties: Map<number, Buffer>) => void
  software?: (properties: Map<number, Buffer>) => void
  /** The properties of the hardware in another order, or twice. */
  ordered?: (entries: [number, Buffer][]) => [number, Buffer][]
  leaf?: Partial<CertificateOptions>
  issuer?: Partial<CertificateOptions>
  middle?: Partial<CertificateOptions>
  isFactory?: boolean
  describes?: boolean
  chain?: (chain: Buffer[]) => Buffer[]
  packages?: string[]
  signers?: string[]
  isRootOmitted?: boolean
}

export const androidApp: AndroidApp = {
  application_key: 'shop',
  platform: 'android',
  package_name: 'com.example.shop',
  signing_certificates_sha256: [sha256('a signing certificate').toString('hex')],
}

export const rootOfTrust = (isLocked: boolean | number, state: number, bootKey = sha256('a boot key')) =>
  sequence(octets(bootKey), boolean(isLocked), enumerated(state), octets(sha256('a boot hash')))

/** The SHA-256 of the boot key that `rootOfTrust` names. */
export const bootKey = sha256('a boot key').toString('hex')

function application(packages: string[], signers: string[]): Buffer {
  const names = packages.map((one) => sequence(octets(Buffer.from(one)), integer(7)))
  return octets(sequence(set(...names), set(...signers.map((one) => octets(Buffer.from(one, 'hex'))))))
}

const listOf = (entries: readonly [number, Buffer][]) =>
  sequence(...entries.map(([number, value]) => tagged(number, value)))

export function keyDescription(challenge: Uint8Array, lies: AndroidLies = {}): Buffer {
  const hardware = new Map<number, Buffer>([
    [1, set(integer(2), integer(3))],
    [2, integer(3)],
    [3, integer(256)],
    [10, integer(1)],
    [503, nothing()],
    [702, integer(0)],
    [704, rootOfTrust(true, 0)],
    [705, integer(160_000)],
    [706, integer(202_509)],
  ])
  const { packages = [androidApp.package_name], signers = androidApp.signing_certificates_sha256 } = lies
  const software = new Map<number, Buffer>([
    [701, integer(1_700_000_000_000)],
    [709, application(packages, signers)],
  ])
  lies.hardware?.(hardware)
  lies.software?.(software)
  const sorted = (properties: Map<number, Buffer>) => [...properties].sort(([one], [other]) => one - other)
  const ordered = lies.ordered ?? ((entries) => entries)
  return sequence(
    integer(300),
    enumerated(lies.level ?? 1),
    integer(300),
    enumerated(lies.keyLevel ?? lies.level ?? 1),
    octets(lies.challenge ?? challenge),
    octets(Buffer.alloc(0)),
    listOf(sorted(software)),
    listOf(ordered(sorted(hardware))),
  )
}

/** A chain of leaf, attestation key, intermediate and root, as Google provisions it. */
export function androidChain(
  root: Authority,
  challenge: Uint8Array,
  lies: AndroidLies = {},
  pair = newPair(),
): Uint8Array<ArrayBuffer>[] {
  const [attestor, middle] = [newPair(), newPair('P-384')]
  const [middleName, attestorName] = ['A provisioner', 'An attestation key']
  const organization = lies.issuer?.organization
  const described = lies.describes === false ? [] : [{ id: describing, value: keyDescription(challenge, lies) }]
  const chain = [
    certificate({
      subject: 'Android Keystore Key',
      issuer: attestorName,
      ...(organization === undefined ? {} : { issuerOrganization: organization }),
      key: pair,
      signer: attestor,
      from: new Date(0),
      until: new Date('2048-01-01'),
      serial: Buffer.from([1]),
      keyUsage: usages.digitalSignature,
      extensions: described,
      ...lies.leaf,
    }),
    certificate({
      subject: attestorName,
      issuer: middleName,
      key: attestor,
      signer: middle,
      serial: Buffer.from('0abc01', 'hex'),
      isAuthority: true,
      keyUsage: usages.keyCertSign,
      extensions: lies.isFactory ? [] : [provisioning],
      ...lies.issuer,
    }),
    certificate({
      subject: middleName,
      issuer: root.name,
      key: middle,
      signer: root.key,
      serial: Buffer.from('0abc02', 'hex'),
      isAuthority: true,
      pathLength: 1,
      keyUsage: usages.keyCertSign,
      ...lies.middle,
    }),
    ...(lies.isRootOmitted ? [] : [root.certificate]),
  ]
  return (lies.chain ? lies.chain(chain) : chain).map(bytesOf)
}

export { describing, sha256 }
