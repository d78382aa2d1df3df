/** Android Key Attestation: what the secure hardware of a device says about a key and about the app that made it. */
import {
  type Bytes,
  booleanOf,
  contentOf,
  contextTag,
  type DerElement,
  DerFault,
  derTags,
  explicit,
  objectIdentifier,
  readDer,
  readElements,
  requireNull,
  sequenceOf,
  setOf,
  smallInteger,
} from '../../wire/der.ts'
import type { AndroidApp } from '../../wire/device-apps.ts'
import { type DeviceFacts, keyIdOf } from '../../wire/devices.ts'
import type { Attested } from './attested.ts'
import { type Certificate, isSame, readCertificate } from './certificate.ts'
import { chainFault, type Refused } from './chain.ts'
import type { Root } from './roots.ts'

/** Number of certificates, the root included. Real chains have 3 to 6. */
const mostCertificates = 8
/** Bytes of all certificates. Real chains have at most 7,000. */
const longestChain = 24 * 1024
/** The KeyDescription, which stands on the leaf. */
const keyDescription = '1.3.6.1.4.1.11129.2.1.17'
/** Facts about remotely provisioned keys: chains of a factory have no such extension. */
const provisioningInformation = '1.3.6.1.4.1.11129.2.1.30'

export interface AndroidInput {
  /** The leaf first. */
  certificates: readonly Bytes[]
  challenge: Bytes
  app: AndroidApp
  roots: readonly Root[]
  /** Unix time in milliseconds. */
  now: number
}

/** @throws DerFault for input that is malformed. */
export async function verifyAndroid({
  certificates,
  challenge,
  app,
  roots,
  now,
}: AndroidInput): Promise<Attested | Refused> {
  if (certificates.length > mostCertificates) return { reason: 'too_long' }
  if (certificates.reduce((sum, { length }) => sum + length, 0) > longestChain) return { reason: 'too_long' }
  if (certificates.length < 2) return { reason: 'chain_too_short' }
  const chain = certificates.map(readCertificate)
  const [leaf, issuer] = chain as [Certificate, Certificate]
  // a key that was attested can sign a certificate itself, below which another "leaf" would say what its holder likes
  if (chain.some(({ extensions }, position) => extensions.has(keyDescription) !== (position === 0)))
    return { reason: leaf.extensions.has(keyDescription) ? 'extended_chain' : 'no_key_description' }
  const isFactory = isFactoryChain(chain, roots)
  const fault = await chainFault(chain, {
    roots,
    now,
    hasFreeLeaf: true,
    isUnmarkedIssuerAllowed: isFactory,
    isExpiryIgnored: isFactory && app.accept_expired_factory_chains === true,
  })
  if (fault) return fault
  const { point } = leaf.publicKey
  if (!point) return { reason: 'wrong_key' }
  const description = readDescription(leaf.extensions.get(keyDescription)!)
  const reason = descriptionFault(description, challenge, app, issuer)
  if (reason) return { reason }
  return {
    point,
    keyId: await keyIdOf(point),
    environment: 'production',
    keyStorage: description.level === levels.strongbox ? 'strongbox' : 'tee',
    facts: factsOf(description.hardware),
    rpIdHash: null,
    receipt: null,
    chainSerials: chain.slice(1).map(({ serial }) => serial),
  }
}

/** Keys of a factory lie under the older root, and their chains say nothing about provisioning. */
function isFactoryChain(chain: readonly Certificate[], roots: readonly Root[]): boolean {
  const last = chain.at(-1)!
  const root = roots.find(({ spki, subject }) => isSame(spki, last.publicKey.spki) || isSame(subject, last.issuer))
  return root?.hasFactoryChains === true && !chain.some(({ extensions }) => extensions.has(provisioningInformation))
}

/** SecurityLevel. Level 0 is software. */
const levels = { tee: 1, strongbox: 2 } as const

interface Description {
  /** The level that made the attestation. */
  level: number
  /** The level that holds the key. */
  keyLevel: number
  challenge: Bytes
  software: AuthorizationList
  hardware: AuthorizationList
}

/** The properties that decide. Absent ones were not stated. */
interface AuthorizationList {
  purposes?: number[]
  origin?: number
  isForAllApplications?: true
  rootOfTrust?: RootOfTrust
  osVersion?: number
  osPatchLevel?: number
  application?: Application
}

interface RootOfTrust {
  bootKey: Bytes
  isLocked: boolean
  state: number
}

interface Application {
  packages: Bytes[]
  signers: Bytes[]
}

/** @throws DerFault */
function readDescription(value: Bytes): Description {
  const fields = sequenceOf(readDer(value), 8)
  if (fields.length !== 8) throw new DerFault('a key description has eight fields')
  const [version, level, keyVersion, keyLevel, challenge, uniqueId, software, hardware] = fields
  smallInteger(version)
  smallInteger(keyVersion)
  contentOf(uniqueId, derTags.octetString)
  return {
    level: smallInteger(level, derTags.enumerated),
    keyLevel: smallInteger(keyLevel, derTags.enumerated),
    challenge: contentOf(challenge, derTags.octetString),
    software: readAuthorizations(software!),
    hardware: readAuthorizations(hardware!),
  }
}

/** Number of properties of a list: Android defines about 60. */
const mostProperties = 128

/** @throws DerFault, also where the properties are not in the order of their tags. */
function readAuthorizations(element: DerElement): AuthorizationList {
  const list: AuthorizationList = {}
  let previous = 0
  for (const property of readElements(contentOf(element, derTags.sequence), mostProperties)) {
    const number = numberOf(property.tag)
    if (number <= previous) throw new DerFault('the properties of a key are not in order')
    previous = number
    const value = explicit(property)
    readProperty(list, number, value)
  }
  return list
}

function numberOf(tag: number): number {
  if (tag >= contextTag(31) - 31) return tag - (contextTag(31) - 31)
  if (tag < contextTag(0) || tag > contextTag(30)) throw new DerFault('a property of a key has another tag')
  return tag - contextTag(0)
}

/** The numbers are those of Android's `Tag.aidl`. */
function readProperty(list: AuthorizationList, number: number, value: DerElement): void {
  switch (number) {
    case 1:
      list.purposes = setOf(value, 16).map((purpose) => smallInteger(purpose))
      break
    case 600:
      requireNull(value)
      list.isForAllApplications = true
      break
    case 702:
      list.origin = smallInteger(value)
      break
    case 704:
      list.rootOfTrust = readRootOfTrust(value)
      break
    case 705:
      list.osVersion = smallInteger(value)
      break
    case 706:
      list.osPatchLevel = smallInteger(value)
      break
    case 709:
      list.application = readApplication(contentOf(value, derTags.octetString))
      break
    default:
      break
  }
}

/** The hash of the boot chain stands there since version 3. */
function readRootOfTrust(element: DerElement): RootOfTrust {
  const fields = sequenceOf(element, 4)
  if (fields[3]) contentOf(fields[3], derTags.octetString)
  return {
    bootKey: contentOf(fields[0], derTags.octetString),
    isLocked: booleanOf(fields[1]),
    state: smallInteger(fields[2], derTags.enumerated),
  }
}

function readApplication(value: Bytes): Application {
  const [packages, signers, ...others] = sequenceOf(readDer(value), 3)
  if (others.length > 0) throw new DerFault('the id of an application has two fields')
  const names = setOf(packages, 32).map((one) => {
    const [name, version, ...more] = sequenceOf(one, 3)
    // the version is the app's own number, which may have any value
    contentOf(version, derTags.integer)
    if (more.length > 0) throw new DerFault('a package has two fields')
    return contentOf(name, derTags.octetString)
  })
  return { packages: names, signers: setOf(signers, 32).map((one) => contentOf(one, derTags.octetString)) }
}

const purpose = { sign: 2, verify: 3 } as const
const generated = 0
const bootStates = { verified: 0, selfSigned: 1 } as const

/** @param issuer of the leaf. */
function descriptionFault(
  { level, keyLevel, challenge, software, hardware }: Description,
  expected: Bytes,
  app: AndroidApp,
  issuer: Certificate,
): string | undefined {
  if (!isSame(challenge, expected)) return 'wrong_challenge'
  if (level !== keyLevel || (level !== levels.tee && level !== levels.strongbox)) return 'wrong_security_level'
  const name = level === levels.strongbox ? 'strongbox' : 'tee'
  if (app.levels && !app.levels.includes(name)) return 'wrong_security_level'
  if (level === levels.strongbox && !saysStrongBox(issuer.subject)) return 'wrong_security_level'
  if (hardware.origin !== generated || software.origin !== undefined) return 'key_imported'
  const { purposes } = hardware
  if (!purposes?.includes(purpose.sign) || purposes.some((one) => one !== purpose.sign && one !== purpose.verify))
    return 'wrong_purpose'
  if (software.purposes) return 'wrong_purpose'
  if (software.isForAllApplications || hardware.isForAllApplications) return 'key_of_all_applications'
  return bootFault(software, hardware, app) ?? applicationFault(software, hardware, app)
}

/** Claims of the software about the boot do not count: a system that was changed says what it likes. */
function bootFault(software: AuthorizationList, hardware: AuthorizationList, app: AndroidApp): string | undefined {
  const root = hardware.rootOfTrust
  if (!root || software.rootOfTrust) return 'no_root_of_trust'
  if (!root.isLocked) return 'bootloader_unlocked'
  if (root.state === bootStates.verified) return undefined
  if (root.state !== bootStates.selfSigned) return 'boot_not_verified'
  return app.boot_keys?.includes(hexOf(root.bootKey)) ? undefined : 'unknown_boot_key'
}

/** The system tells which app it was, so the list of the software has it. */
function applicationFault(
  software: AuthorizationList,
  hardware: AuthorizationList,
  app: AndroidApp,
): string | undefined {
  const { application } = software
  if (!application || hardware.application) return 'no_application'
  const [name, ...others] = application.packages
  // several packages share a user id: which one of them made the key is not known
  if (!name || others.length > 0 || new TextDecoder().decode(name) !== app.package_name) return 'wrong_app'
  const { signers } = application
  if (signers.length === 0 || !signers.every((one) => app.signing_certificates_sha256.includes(hexOf(one))))
    return 'wrong_signer'
  return undefined
}

const organization = '2.5.4.10'
const title = '2.5.4.12'

/** Google names the hardware in the certificate of its attestation key: as organization where it was provisioned, else as title. */
function saysStrongBox(subject: Bytes): boolean {
  return sequenceOf(readDer(subject), 16).some((relative) =>
    setOf(relative, 4).some((attribute) => {
      const [type, value] = sequenceOf(attribute, 2)
      const name = objectIdentifier(type)
      return (name === organization || name === title) && new TextDecoder().decode(value?.content) === 'StrongBox'
    }),
  )
}

function factsOf({ rootOfTrust, osVersion, osPatchLevel }: AuthorizationList): DeviceFacts {
  const facts: DeviceFacts = { verified_boot: rootOfTrust?.state === bootStates.verified ? 'verified' : 'self_signed' }
  // MMmmss, and 0 where the system did not say
  if (osVersion)
    facts.os_version = [Math.floor(osVersion / 10_000), Math.floor(osVersion / 100) % 100, osVersion % 100].join('.')
  if (osPatchLevel) {
    const digits = String(osPatchLevel)
    facts.os_patch_level = `${digits.slice(0, 4)}-${digits.slice(4, 6)}`
  }
  return facts
}

function hexOf(bytes: Bytes): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
