/** Forms (application/x-www-form-urlencoded) as bytes: what a signature covers is never decoded text. */
import { isSame } from '../bytes.ts'
import { recordOf } from '../record.ts'
import { joined, utf8 } from './signed.ts'

type Pair = readonly [name: Uint8Array<ArrayBuffer>, value: Uint8Array<ArrayBuffer>]

const ampersand = 0x26
const equals = 0x3d
const plus = 0x2b
const percent = 0x25
const blank = 0x20

const lenient = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })

function pairsOf(body: Uint8Array): Pair[] {
  const pairs: Pair[] = []
  for (let start = 0; start < body.length; ) {
    const next = body.indexOf(ampersand, start)
    const end = next === -1 ? body.length : next
    const part = body.subarray(start, end)
    const at = part.indexOf(equals)
    if (part.length > 0) {
      const [name, value] =
        at === -1 ? [part, part.subarray(part.length)] : [part.subarray(0, at), part.subarray(at + 1)]
      pairs.push([decoded(name), decoded(value)])
    }
    start = end + 1
  }
  return pairs
}

function decoded(part: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(part.length)
  let length = 0
  for (let index = 0; index < part.length; index++) {
    const byte = part[index]!
    const high = byte === percent ? digit(part[index + 1]) : -1
    const low = high === -1 ? -1 : digit(part[index + 2])
    if (low !== -1) index += 2
    bytes[length++] = low !== -1 ? high * 16 + low : byte === plus ? blank : byte
  }
  return bytes.slice(0, length)
}

function digit(byte: number | undefined): number {
  if (byte === undefined) return -1
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

/** Names and values in the order of the names; a name's equal values count once, and its values are sorted too. */
export function sortedForm(body: Uint8Array): Uint8Array<ArrayBuffer> {
  const groups = new Map<string, Map<string, Pair>>()
  for (const pair of pairsOf(body)) {
    const [name, value] = [nameOf(pair[0]), nameOf(pair[1])]
    const values = groups.get(name) ?? new Map<string, Pair>()
    groups.set(name, values.set(value, pair))
  }
  return joined([...groups].sort(byName).flatMap(([, values]) => [...values].sort(byName).flatMap(([, pair]) => pair)))
}

/** In UTF-16 order, as JavaScript's own sort compares. */
function byName([one]: [string, unknown], [other]: [string, unknown]): number {
  return one < other ? -1 : one > other ? 1 : 0
}

/** More than any sender's form has; each costs time and memory before the signature is known. */
const mostFields = 10_000

export function hasTooManyFields(body: Uint8Array): boolean {
  let fields = 1
  for (let at = body.indexOf(ampersand); at !== -1; at = body.indexOf(ampersand, at + 1)) {
    if (++fields > mostFields) return true
  }
  return false
}

/** A text for these bytes and no others, also where they are no UTF-8. */
function nameOf(bytes: Uint8Array): string {
  const text = lenient.decode(bytes) // what a strict one throws for each field would cost a stranger nothing, and us seconds
  if (!text.includes('\ufffd') || isSame(utf8(text), bytes)) return text
  let name = '\ud800' // which no text begins with
  for (const byte of bytes) name += String.fromCharCode(byte)
  return name
}

/** What a handler gets: a field that stands once is text, one that is repeated a list. */
export function parseForm(body: Uint8Array): Record<string, string | string[]> {
  return recordOf(pairsOf(body).map(([name, value]) => [lenient.decode(name), lenient.decode(value)]))
}
