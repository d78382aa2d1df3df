/** Forms (application/x-www-form-urlencoded) as bytes: what a signature covers is never decoded text. */
import { recordOf } from '../record.ts'

/** Every field, decoded, one after the other in one buffer: a form may have as many as it has bytes. */
interface Fields {
  bytes: Uint8Array<ArrayBuffer>
  count: number
  /** Three offsets a field: where its name begins, where its value begins, and where that ends. */
  offsets: Uint32Array
}

const ampersand = 0x26
const equals = 0x3d
const plus = 0x2b
const percent = 0x25
const blank = 0x20

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

/** Empty parts (`&&`) are no fields. */
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
 * Names and values in the order of the names; a name's equal values count once, and its values are sorted too. Nothing is
 * known of the sender yet: the work grows as that of one sort of the bytes, however many fields there are.
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

/** As JavaScript compares the texts that these bytes are in UTF-8: by UTF-16 units, as the senders sort. */
function compareParts(bytes: Uint8Array, start: number, end: number, otherStart: number, otherEnd: number): number {
  const length = Math.min(end - start, otherEnd - otherStart)
  for (let index = 0; index < length; index++) {
    const [one, other] = [bytes[start + index]!, bytes[otherStart + index]!]
    if (one !== other) return rankOf(one) - rankOf(other)
  }
  return end - start - (otherEnd - otherStart)
}

/** Surrogates come before U+E000, so what begins with EE or EF in UTF-8 comes after all that begins with F0 to F4. */
function rankOf(byte: number): number {
  if (byte < 0xee) return byte
  return byte < 0xf0 || byte > 0xfd ? byte + 0x10 : byte
}

const lenient = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })

/** What a handler gets: a field that stands once is text, one that is repeated a list. */
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
