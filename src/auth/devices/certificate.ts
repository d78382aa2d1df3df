/** X.509 certificates (RFC 5280), as far as the chains of Apple's and Google's attestations need them. */
import {
  type Bytes,
  booleanOf,
  contentOf,
  contextTag,
  type DerElement,
  DerFault,
  derTags,
  explicit,
  integerBytes,
  namedBits,
  objectIdentifier,
  rawSignature,
  readDer,
  requireNull,
  sequenceOf,
  smallInteger,
  timeOf,
  wholeBits,
} from '../../wire/der.ts'

export interface Certificate {
  /** The part that the signature covers. */
  signed: Bytes
  signature: Bytes
  signatureAlgorithm: SignatureAlgorithm
  /** Lower-case hexadecimal digits without leading zeros, as Google's list of revoked certificates spells serial numbers. */
  serial: string
  /** Names in DER. They are compared byte by byte, because the issuers of these chains copy them. */
  issuer: Bytes
  subject: Bytes
  /** Unix time in milliseconds. */
  notBefore: number
  notAfter: number
  publicKey: PublicKey
  isAuthority: boolean
  /** Number of authorities that may follow below this one. Absent: any number. */
  pathLength: number | undefined
  /** `undefined` where the certificate does not limit the use of its key. */
  maySignCertificates: boolean | undefined
  /** Values of the extensions by their object identifiers. */
  extensions: ReadonlyMap<string, Bytes>
}

type SignatureAlgorithm = 'ecdsa-sha256' | 'ecdsa-sha384' | 'rsa-sha256'

export interface PublicKey {
  /** The SubjectPublicKeyInfo in DER. */
  spki: Bytes
  kind: 'P-256' | 'P-384' | 'rsa' | 'other'
  /** The uncompressed point of a P-256 key: 65 bytes. */
  point: Bytes | undefined
}

/** Longest certificate in bytes: the longest of real chains, with a key of ML-DSA, has 2,600. */
const longestCertificate = 8_192
/** Number of extensions: those of real chains have at most 10. */
const mostExtensions = 32
/** Octets of a serial number (RFC 5280 section 4.1.2.2). */
const longestSerial = 20

const signatureAlgorithms: Record<string, SignatureAlgorithm> = {
  '1.2.840.10045.4.3.2': 'ecdsa-sha256',
  '1.2.840.10045.4.3.3': 'ecdsa-sha384',
  '1.2.840.113549.1.1.11': 'rsa-sha256',
}

const basicConstraints = '2.5.29.19'
const keyUsage = '2.5.29.15'

/** Extensions that may be critical: this code checks what they say, or they say nothing about a chain. */
const understood = new Set([basicConstraints, keyUsage])

/** @throws DerFault for all that is no certificate of version 3 in DER. */
export function readCertificate(bytes: Bytes): Certificate {
  if (bytes.length > longestCertificate) throw new DerFault('a certificate is too long')
  const parts = sequenceOf(readDer(bytes), 3)
  const [tbs, algorithm, signature] = parts
  if (parts.length !== 3) throw new DerFault('a certificate has three parts')
  const fields = sequenceOf(tbs, 10)
  const [version, serial, innerAlgorithm, issuer, validity, subject, spki, extensions] = fields
  // unique identifiers, which RFC 5280 forbids, would stand before the extensions
  if (fields.length !== 8 || extensions!.tag !== contextTag(3)) throw new DerFault('a certificate has no extensions')
  if (version!.tag !== contextTag(0) || smallInteger(explicit(version!)) !== 2)
    throw new DerFault('a certificate is not of version 3')
  if (!isSame(innerAlgorithm!.encoding, algorithm!.encoding))
    throw new DerFault('the algorithms of a certificate differ')
  const times = sequenceOf(validity, 2)
  const read = readExtensions(explicit(extensions!))
  const constraints = constraintsOf(read.get(basicConstraints))
  const usage = read.get(keyUsage)
  return {
    signed: tbs!.encoding,
    signature: wholeBits(signature),
    signatureAlgorithm: signatureAlgorithmOf(algorithm),
    serial: serialOf(serial),
    issuer: nameOf(issuer),
    subject: nameOf(subject),
    notBefore: timeOf(times[0]),
    notAfter: timeOf(times[1]),
    publicKey: publicKeyOf(spki!),
    ...constraints,
    maySignCertificates: usage && (namedBits(readDer(usage)) & keyCertSign) !== 0,
    extensions: read,
  }
}

/** The bit keyCertSign, which is the sixth one (RFC 5280 section 4.2.1.3). */
const keyCertSign = 0x8000 >> 5

function nameOf(element: DerElement | undefined): Bytes {
  contentOf(element, derTags.sequence)
  return element!.encoding
}

function serialOf(element: DerElement | undefined): string {
  const content = integerBytes(element)
  if (content[0]! >= 0x80) throw new DerFault('a serial number is negative')
  if (content.length > longestSerial + 1) throw new DerFault('a serial number is too long')
  const digits = Array.from(content, (octet) => octet.toString(16).padStart(2, '0')).join('')
  return digits.replace(/^0+(?=.)/, '')
}

function signatureAlgorithmOf(element: DerElement | undefined): SignatureAlgorithm {
  const [identifier, parameters, ...more] = sequenceOf(element, 3)
  const algorithm = signatureAlgorithms[objectIdentifier(identifier)]
  if (!algorithm || more.length > 0) throw new DerFault('a certificate is signed with another algorithm')
  if (algorithm === 'rsa-sha256') requireNull(parameters)
  else if (parameters) throw new DerFault('an algorithm has parameters')
  return algorithm
}

const ecPublicKey = '1.2.840.10045.2.1'
const rsaEncryption = '1.2.840.113549.1.1.1'
const curves: Record<string, 'P-256' | 'P-384'> = { '1.2.840.10045.3.1.7': 'P-256', '1.3.132.0.34': 'P-384' }

function publicKeyOf(element: DerElement): PublicKey {
  const spki = element.encoding
  const parts = sequenceOf(element, 2)
  const bits = wholeBits(parts[1])
  const [identifier, parameters] = sequenceOf(parts[0], 2)
  const algorithm = objectIdentifier(identifier)
  if (algorithm === rsaEncryption) return { spki, kind: 'rsa', point: undefined }
  if (algorithm !== ecPublicKey) return { spki, kind: 'other', point: undefined }
  const curve = curves[objectIdentifier(parameters)] ?? 'other'
  // a compressed point would be a second spelling of the same key
  const length = curve === 'P-256' ? 65 : 97
  if (curve !== 'other' && (bits.length !== length || bits[0] !== 4)) throw new DerFault('a point is not uncompressed')
  return { spki, kind: curve, point: curve === 'P-256' ? bits : undefined }
}

function readExtensions(list: DerElement): Map<string, Bytes> {
  const extensions = new Map<string, Bytes>()
  for (const extension of sequenceOf(list, mostExtensions)) {
    const parts = sequenceOf(extension, 3)
    const name = objectIdentifier(parts[0])
    const isCritical = parts.length === 3 && booleanOf(parts[1])
    // FALSE is the default, and DER leaves a default out
    if (parts.length === 3 && !isCritical) throw new DerFault('an extension spells a default')
    if (isCritical && !understood.has(name)) throw new DerFault(`the critical extension ${name} is not known`)
    if (extensions.has(name)) throw new DerFault(`the extension ${name} stands twice`)
    extensions.set(name, contentOf(parts.at(-1), derTags.octetString))
  }
  return extensions
}

function constraintsOf(value: Bytes | undefined): Pick<Certificate, 'isAuthority' | 'pathLength'> {
  if (!value) return { isAuthority: false, pathLength: undefined }
  const parts = sequenceOf(readDer(value), 2)
  const isAuthority = parts[0]?.tag === derTags.boolean && booleanOf(parts[0])
  if (parts[0]?.tag === derTags.boolean && !isAuthority) throw new DerFault('a constraint spells a default')
  const length = isAuthority ? parts[1] : parts[0]
  if (length && !isAuthority) throw new DerFault('a path length stands on a certificate of no authority')
  return { isAuthority, pathLength: length && smallInteger(length) }
}

const numberBytes = { 'P-256': 32, 'P-384': 48 } as const

const rsa = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }

/** @returns whether the key has signed the certificate. @throws DerFault for a signature that is malformed. */
export async function isSignedBy(certificate: Certificate, { spki, kind }: PublicKey): Promise<boolean> {
  const { signature, signatureAlgorithm, signed } = certificate
  const isRsa = signatureAlgorithm === 'rsa-sha256'
  if (kind === 'other' || isRsa !== (kind === 'rsa')) return false
  const key = await importSpki(spki, kind === 'rsa' ? rsa : { name: 'ECDSA', namedCurve: kind })
  if (!key) return false
  if (kind === 'rsa') return crypto.subtle.verify(rsa, key, signature, signed)
  const hash = signatureAlgorithm === 'ecdsa-sha384' ? 'SHA-384' : 'SHA-256'
  return crypto.subtle.verify({ name: 'ECDSA', hash }, key, rawSignature(signature, numberBytes[kind]), signed)
}

/** @returns `undefined` for a key that is none, like a point off the curve. */
async function importSpki(spki: Bytes, algorithm: { name: string; hash?: string; namedCurve?: string }) {
  try {
    return await crypto.subtle.importKey('spki', spki, algorithm as typeof rsa, false, ['verify'])
  } catch {
    return undefined
  }
}

export function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index])
}
