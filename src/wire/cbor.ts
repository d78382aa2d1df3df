/**
 * Reads CBOR (RFC 8949) in its deterministic form (section 4.2.1, except for the order of keys): each value has one encoding, and indefinite
 * lengths, longer heads than needed, duplicate keys and trailing bytes are refused. Floating-point numbers and tags are refused too, because
 * no attestation has any.
 */
import type { Bytes } from './der.ts'

/** The input is no CBOR that this reader takes. */
export class CborFault extends Error {}

export type CborMap = Map<string | number, CborValue>
export type CborValue = number | boolean | null | string | Bytes | CborValue[] | CborMap

/** Largest depth of arrays and maps. An attestation has 3. */
const deepest = 8
/** Largest number of values in one document, because each costs more memory than its bytes. */
const mostValues = 1_000

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @returns the one value that the bytes hold. @throws CborFault, also for trailing bytes. */
export function readCbor(bytes: Bytes): CborValue {
  const { value, rest } = readCborPrefix(bytes)
  if (rest.length > 0) throw new CborFault('bytes follow the value')
  return value
}

/** @returns the first value, and the bytes that follow it. @throws CborFault */
export function readCborPrefix(bytes: Bytes): { value: CborValue; rest: Bytes } {
  let at = 0
  let values = 0

  function take(length: number): Bytes {
    if (length > bytes.length - at) throw new CborFault('the input ends within a value')
    at += length
    return bytes.subarray(at - length, at)
  }

  /** The argument of a head: 5 bits, or the 1, 2, 4 or 8 bytes that follow. */
  function argument(short: number): number {
    if (short < 24) return short
    if (short > 27) throw new CborFault('a length is indefinite')
    const length = 2 ** (short - 24)
    const value = take(length).reduce((sum, byte) => sum * 256 + byte, 0)
    if (value < 24 || (length > 1 && value < 256 ** (length / 2)))
      throw new CborFault('a number is not in its shortest form')
    if (value > Number.MAX_SAFE_INTEGER) throw new CborFault('a number is too large')
    return value
  }

  function text(length: number): string {
    try {
      return utf8.decode(take(length))
    } catch (error) {
      throw error instanceof CborFault ? error : new CborFault('a text is not UTF-8')
    }
  }

  function map(length: number, depth: number): CborMap {
    const entries: CborMap = new Map()
    for (let index = 0; index < length; index++) {
      const key = read(depth)
      if (typeof key !== 'string' && typeof key !== 'number') throw new CborFault('a key is neither text nor a number')
      if (entries.has(key)) throw new CborFault('a key stands twice')
      entries.set(key, read(depth))
    }
    return entries
  }

  function read(depth: number): CborValue {
    if (depth > deepest) throw new CborFault('the values are nested too deeply')
    if (++values > mostValues) throw new CborFault('there are too many values')
    const [head] = take(1)
    const major = head! >> 5
    const short = head! & 31
    if (major === 7) {
      if (short === 20 || short === 21) return short === 21
      if (short === 22) return null
      throw new CborFault('floating-point numbers and other simple values are not taken')
    }
    const number = argument(short)
    switch (major) {
      case 0:
        return number
      case 1:
        return -1 - number
      case 2:
        return take(number)
      case 3:
        return text(number)
      case 4: {
        const items: CborValue[] = []
        for (let index = 0; index < number; index++) items.push(read(depth + 1))
        return items
      }
      case 5:
        return map(number, depth + 1)
      default:
        throw new CborFault('tags are not taken')
    }
  }

  const value = read(0)
  return { value, rest: bytes.subarray(at) }
}
