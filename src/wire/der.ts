/**
 * Reads DER (ITU-T X.690), the encoding of certificates and of ECDSA signatures. Each value has one encoding, and every other one is
 * refused: a length that is not minimal, an indefinite length, a padded INTEGER, trailing bytes. A call reads one level, so that depth
 * costs no stack.
 */

export type Bytes = Uint8Array<ArrayBuffer>

/** The input is no DER, or not the value that the caller asked for. */
export class DerFault extends Error {}

export interface DerElement {
  /** Class, form and number as one number: the identifier octet for numbers below 31, else `contextTag(number)`. */
  tag: number
  /** The contents octets. */
  content: Bytes
  /** The whole encoding: identifier, length and contents. */
  encoding: Bytes
}

/** Identifier octets of the universal class (X.680 section 8.4). */
export const derTags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectIdentifier: 0x06,
  enumerated: 0x0a,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

/** Added to numbers above 30, whose identifiers take several octets: such a tag collides with no identifier octet. */
const longForm = 0x1_0000

/** Largest number of a tag. Android's key descriptions have numbers below 1,000. */
const largestTag = 16_383

/** The `tag` of a constructed element of the context-specific class, as EXPLICIT tagging makes it. */
export function contextTag(number: number): number {
  return number < 31 ? 0xa0 | number : longForm + number
}

/** @returns the one element that the bytes hold. @throws DerFault, also for trailing bytes. */
export function readDer(bytes: Bytes): DerElement {
  const element = elementAt(bytes, 0)
  if (element.encoding.length !== bytes.length) throw new DerFault('bytes follow the element')
  return element
}

/**
 * @param most largest number of elements.
 * @returns the elements within a constructed element. @throws DerFault
 */
export function readElements(content: Bytes, most: number): DerElement[] {
  const elements: DerElement[] = []
  for (let at = 0; at < content.length; ) {
    if (elements.length === most) throw new DerFault(`more than ${most} elements`)
    const element = elementAt(content, at)
    elements.push(element)
    at += element.encoding.length
  }
  return elements
}

function elementAt(bytes: Bytes, start: number): DerElement {
  let at = start
  const next = () => {
    const byte = bytes[at++]
    if (byte === undefined) throw new DerFault('the input ends within an element')
    return byte
  }
  const identifier = next()
  let tag = identifier
  if ((identifier & 0x1f) === 0x1f) {
    // the only such tags here are those of Android's authorization lists, which are constructed and context-specific
    if (identifier !== 0xbf) throw new DerFault('a tag of another class has a number above 30')
    tag = longForm + readTagNumber(next)
  }
  const length = readLength(next)
  if (length > bytes.length - at) throw new DerFault('the input ends within an element')
  return { tag, content: bytes.subarray(at, at + length), encoding: bytes.subarray(start, at + length) }
}

function readTagNumber(next: () => number): number {
  let number = 0
  for (let octets = 0; ; octets++) {
    const octet = next()
    if (octets === 0 && octet === 0x80) throw new DerFault('the number of a tag is padded')
    number = number * 128 + (octet & 0x7f)
    if (number > largestTag) throw new DerFault('the number of a tag is too large')
    if (octet < 0x80) break
  }
  if (number < 31) throw new DerFault('the number of a tag is not minimal')
  return number
}

function readLength(next: () => number): number {
  const first = next()
  if (first < 0x80) return first
  const octets = first & 0x7f
  if (octets === 0) throw new DerFault('the length is indefinite')
  if (octets > 3) throw new DerFault('the length is too large')
  let length = 0
  for (let index = 0; index < octets; index++) length = length * 256 + next()
  if (length < 0x80 || length < 256 ** (octets - 1)) throw new DerFault('the length is not minimal')
  return length
}

/** @returns the contents of an element with this tag. @throws DerFault */
export function contentOf(element: DerElement | undefined, tag: number): Bytes {
  if (element?.tag !== tag)
    throw new DerFault(`expected the tag ${tag.toString(16)}, found ${element?.tag.toString(16)}`)
  return element.content
}

/** @returns the elements of a SEQUENCE. @throws DerFault */
export function sequenceOf(element: DerElement | undefined, most: number): DerElement[] {
  return readElements(contentOf(element, derTags.sequence), most)
}

/** @returns the elements of a SET OF, which stand in the order of their encodings. @throws DerFault */
export function setOf(element: DerElement | undefined, most: number): DerElement[] {
  const elements = readElements(contentOf(element, derTags.set), most)
  for (const [index, { encoding }] of elements.entries()) {
    const previous = elements[index - 1]
    if (previous && compareBytes(previous.encoding, encoding) > 0) throw new DerFault('a SET OF is not in order')
  }
  return elements
}

/** @returns the element within an EXPLICIT tag. @throws DerFault */
export function explicit(element: DerElement): DerElement {
  return readDer(element.content)
}

/** @returns the contents octets of an INTEGER, in two's complement and minimal. @throws DerFault */
export function integerBytes(element: DerElement | undefined, tag: number = derTags.integer): Bytes {
  const content = contentOf(element, tag)
  if (content.length === 0) throw new DerFault('an INTEGER has no octets')
  const [first, second] = content
  const isPadded = (first === 0 && second! < 0x80) || (first === 0xff && second! >= 0x80)
  if (content.length > 1 && isPadded) throw new DerFault('an INTEGER is padded')
  return content
}

/** @returns the value of an INTEGER or ENUMERATED from 0 to 2^48 - 1. @throws DerFault */
export function smallInteger(element: DerElement | undefined, tag: number = derTags.integer): number {
  const content = integerBytes(element, tag)
  if (content[0]! >= 0x80) throw new DerFault('an INTEGER is negative')
  if (content.length > 6) throw new DerFault('an INTEGER is too large')
  return content.reduce((value, octet) => value * 256 + octet, 0)
}

/** @throws DerFault */
export function booleanOf(element: DerElement | undefined): boolean {
  const content = contentOf(element, derTags.boolean)
  if (content.length !== 1 || (content[0] !== 0 && content[0] !== 0xff)) throw new DerFault('a BOOLEAN is 00 or ff')
  return content[0] === 0xff
}

/** @throws DerFault */
export function requireNull(element: DerElement | undefined): void {
  if (contentOf(element, derTags.null).length > 0) throw new DerFault('a NULL has contents')
}

/** Largest number of octets of an object identifier: those of certificates have about ten. */
const longestIdentifier = 64

/** @returns the object identifier in dotted notation. @throws DerFault */
export function objectIdentifier(element: DerElement | undefined): string {
  const content = contentOf(element, derTags.objectIdentifier)
  if (content.length === 0 || content.length > longestIdentifier)
    throw new DerFault('an object identifier has no fitting length')
  const arcs: number[] = []
  let arc = 0
  let isWithin = false
  for (const octet of content) {
    if (!isWithin && octet === 0x80) throw new DerFault('an arc is padded')
    arc = arc * 128 + (octet & 0x7f)
    if (arc > Number.MAX_SAFE_INTEGER / 128) throw new DerFault('an arc is too large')
    isWithin = octet >= 0x80
    if (isWithin) continue
    if (arcs.length === 0) {
      const root = Math.min(2, Math.floor(arc / 40))
      arcs.push(root, arc - root * 40)
    } else arcs.push(arc)
    arc = 0
  }
  if (isWithin) throw new DerFault('an arc is not complete')
  return arcs.join('.')
}

/** @returns the octets of a BIT STRING that has no unused bits. @throws DerFault */
export function wholeBits(element: DerElement | undefined): Bytes {
  const content = contentOf(element, derTags.bitString)
  if (content[0] !== 0) throw new DerFault('a BIT STRING has unused bits')
  return content.subarray(1)
}

/** @returns the first 16 bits of a list of named bits, the first bit as the highest one. @throws DerFault */
export function namedBits(element: DerElement | undefined): number {
  const content = contentOf(element, derTags.bitString)
  const [unused] = content
  const last = content.length - 1
  if (unused === undefined || unused > 7 || (last === 0 && unused > 0))
    throw new DerFault('a BIT STRING has no fitting length')
  // trailing zero bits are left out of a list of named bits (X.690 section 11.2.2)
  if (last > 0 && (content[last]! & ((2 << unused) - 1)) !== 1 << unused)
    throw new DerFault('a list of named bits is not minimal')
  return ((content[1] ?? 0) << 8) | (content[2] ?? 0)
}

/** @returns Unix time in milliseconds of a UTCTime or GeneralizedTime in the form of RFC 5280 section 4.1.2.5. @throws DerFault */
export function timeOf(element: DerElement | undefined): number {
  const isShort = element?.tag === derTags.utcTime
  const content = contentOf(element, isShort ? derTags.utcTime : derTags.generalizedTime)
  const text = String.fromCharCode(...content.subarray(0, 16))
  const [, century = '', years, month, day, hour, minute, second] =
    /^(\d\d)?(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? []
  if (years === undefined || (century === '') !== isShort || content.length !== text.length)
    throw new DerFault('a time is malformed')
  const year = isShort ? (Number(years) < 50 ? `20${years}` : `19${years}`) : `${century}${years}`
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`
  const time = Date.parse(iso)
  // `Date` moves a day that the month lacks into the next one
  if (Number.isNaN(time) || new Date(time).toISOString() !== iso) throw new DerFault('there is no such time')
  return time
}

function compareBytes(one: Uint8Array, other: Uint8Array): number {
  for (let index = 0; index < Math.min(one.length, other.length); index++) {
    if (one[index] !== other[index]) return one[index]! - other[index]!
  }
  return one.length - other.length
}

/** Bytes of each of the two numbers of a signature over P-256. */
const p256Bytes = 32

/**
 * @param bytes length of each number: 32 for P-256, 48 for P-384.
 * @returns an ECDSA signature as `r` and `s` of a fixed length, as WebCrypto takes it, from its DER form (RFC 3279 section 2.2.3).
 * @throws DerFault
 */
export function rawSignature(der: Bytes, bytes: number = p256Bytes): Bytes {
  const numbers = sequenceOf(readDer(der), 2)
  if (numbers.length !== 2) throw new DerFault('a signature has two numbers')
  const raw = new Uint8Array(2 * bytes)
  for (const [index, number] of numbers.entries()) {
    const content = integerBytes(number)
    if (content[0]! >= 0x80) throw new DerFault('a number of the signature is negative')
    const digits = content[0] === 0 ? content.subarray(1) : content
    if (digits.length > bytes) throw new DerFault('a number of the signature is too large')
    raw.set(digits, (index + 1) * bytes - digits.length)
  }
  return raw
}
