/** Parses forms (application/x-www-form-urlencoded) as bytes, because a signature covers bytes and not text. */
import { recordOf } from '../record.ts'

/** All fields, decoded, in one buffer. An object for each field would cost too much: a form may have as many fields as bytes. */
interface Fields {
  bytes: Uint8Array<ArrayBuffer>
  count: number
  /** Three offsets for each field: the start of its name, the start of its value, and the end of its value. */
  offsets: Uint32Array
}

/** Character codes of the syntax. */
const [ampersand, equals, plus, percent, blank] = [0x26, 0x3d, 0x2b, 0x25, 0x20]

function fieldsOf(body: Uint8Array): Fields {
  const offsets = new Uint32Array(3 * countFields(body))
  const bytes = new Uint8Array(body.length)
  let count = 0
  let length = 0
  for (let index = 0; index < body.length; index++) {
    if (body[index] === ampersand) continue
    offsets[3 * count] = length
    let hasName = false
    for (; index < body.length && body[index] !== ampersand; index++) {
      const byte = body[index]!
      if (byte === equals && !hasName) {
        hasName = true
        offsets[3 * count + 1] = length
        continue
      }
      const high = byte === percent ? digit(body[index + 1]) : -1
      const low = high === -1 ? -1 : digit(body[index + 2])
      if (low !== -1) index += 2
      bytes[length++] = low !== -1 ? high * 16 + low : byte === plus ? blank : byte
    }
    if (!hasName) offsets[3 * count + 1] = length
    offsets[3 * count + 2] = length
    count++
  }
  return { bytes, count, offsets }
}

/** Counts the fields. An empty part (`&&`) is not a field. */
function countFields(body: Uint8Array): number {
  let count = 0
  for (let index = 0; index < body.length; index++) {
    if (body[index] !== ampersand && (index === 0 || body[index - 1] === ampersand)) count++
  }
  return count
}

function digit(byte: number | undefined): number {
  if (byte === undefined) return -1
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

/**
 * Names and values, sorted by name and then by value, without repeated pairs. The sender is not known yet, so the cost is
 * bounded: it is that of one sort of the bytes for any number of fields.
 */
export function sortedForm(body: Uint8Array): Uint8Array<ArrayBuffer> {
  const { bytes, count, offsets } = fieldsOf(body)
  const order = Uint32Array.from({ length: count }, (_, index) => index)
  const compare = (one: number, other: number): number => {
    const [a, b] = [3 * one, 3 * other]
    return (
      compareParts(bytes, offsets[a]!, offsets[a + 1]!, offsets[b]!, offsets[b + 1]!) ||
      compareParts(bytes, offsets[a + 1]!, offsets[a + 2]!, offsets[b + 1]!, offsets[b + 2]!)
    )
  }
  order.sort(compare)
  const sorted = new Uint8Array(bytes.length)
  let length = 0
  for (let index = 0; index < count; index++) {
    const field = order[index]!
    if (index > 0 && compare(order[index - 1]!, field) === 0) continue
    const [start, end] = [offsets[3 * field]!, offsets[3 * field + 2]!]
    sorted.set(bytes.subarray(start, end), length)
    length += end - start
  }
  return sorted.subarray(0, length)
}

/** Compares UTF-8 bytes in the order of their UTF-16 code units, because the providers sort text in that order. */
function compareParts(bytes: Uint8Array, start: number, end: number, otherStart: number, otherEnd: number): number {
  const length = Math.min(end - start, otherEnd - otherStart)
  for (let index = 0; index < length; index++) {
    const [one, other] = [bytes[start + index]!, bytes[otherStart + index]!]
    if (one !== other) return rankOf(one) - rankOf(other)
  }
  return end - start - (otherEnd - otherStart)
}

/** Surrogates sort before U+E000, so characters whose UTF-8 begins with EE or EF sort after those that begin with F0 to F4. */
function rankOf(byte: number): number {
  if (byte < 0xee) return byte
  return byte < 0xf0 || byte > 0xfd ? byte + 0x10 : byte
}

const lenient = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })

/** The value that a handler receives. A field that occurs once is text, a repeated one is a list. */
export function parseForm(body: Uint8Array): Record<string, string | string[]> {
  const { bytes, count, offsets } = fieldsOf(body)
  const text = (start: number, end: number) => lenient.decode(bytes.subarray(start, end))
  return recordOf(
    Array.from({ length: count }, (_, index) => {
      const [name, value, end] = [offsets[3 * index]!, offsets[3 * index + 1]!, offsets[3 * index + 2]!]
      return [text(name, value), text(value, end)] as const
    }),
  )
}
