/** Bodies and encodings. Decoders are strict: they reject malformed input and never repair it. */

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads a stream to its end. When a callback throws, the stream is cancelled.
 * @param requireLength called after each chunk with the number of bytes so far. It throws when that is too long.
 * @param late rejects when the time for reading is over.
 * @throws the error of `requireLength`, of `late` or of the stream.
 */
export async function readChunks(
  stream: ReadableStream<Uint8Array> | null,
  requireLength: (length: number) => void,
  late?: Promise<never>,
): Promise<Uint8Array<ArrayBuffer>> {
  if (!stream) return new Uint8Array()
  const reader = stream.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for (;;) {
      const { value, done } = await (late ? Promise.race([reader.read(), late]) : reader.read())
      if (done) break
      length += value.length
      requireLength(length)
      chunks.push(value)
    }
  } catch (error) {
    reader.cancel().catch(() => {}) // the client may have closed the connection
    throw error
  }
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}

/** @returns `undefined` for bytes that are not UTF-8 JSON. */
export function parseJson(bytes: Uint8Array): { value: unknown; text: string } | undefined {
  try {
    const text = utf8.decode(bytes)
    return { value: JSON.parse(text), text }
  } catch {
    return undefined
  }
}

/** Values of hex digits by character code. All other characters have the value 255. */
const digits = new Uint8Array(128).fill(255)
for (const [value, digit] of [...'0123456789abcdef'].entries()) digits[digit.charCodeAt(0)] = value

/** Accepts lowercase digits only, as senders write them: one signature has one spelling. */
export function fromHex(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 2 !== 0) return undefined
  const bytes = new Uint8Array(text.length / 2)
  for (let i = 0; i < bytes.length; i++) {
    const high = digits[text.charCodeAt(2 * i)] ?? 255
    const low = digits[text.charCodeAt(2 * i + 1)] ?? 255
    if ((high | low) > 15) return undefined
    bytes[i] = (high << 4) | low
  }
  return bytes
}

type Native = (text: string, options: { alphabet: 'base64' | 'base64url' }) => Uint8Array<ArrayBuffer>

/** The engine's own decoder, where it has one: it costs half as much as `atob`. */
const native = (Uint8Array as { fromBase64?: Native }).fromBase64?.bind(Uint8Array)

const base64 = /^[A-Za-z0-9+/]*$/
const base64url = /^[A-Za-z0-9_-]*$/

/** Last characters of an incomplete group of two and of three characters: their unused bits are zero. */
const lastCharacters = ['', '', 'AQgw', 'AEIMQUYcgkosw048']

/** Checks alphabet and end separately, which takes half as long as one expression for both. @param text without padding. */
function isCanonical(text: string, alphabet: RegExp): boolean {
  const rest = text.length % 4
  return (rest === 0 || lastCharacters[rest]!.includes(text.at(-1)!)) && alphabet.test(text)
}

/** Canonical base64 with padding (RFC 4648 section 4). */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  if (text.length % 4 !== 0 || !isCanonical(text.slice(0, text.length - padding), base64)) return undefined
  if (native) return native(text, { alphabet: 'base64' })
  const characters = atob(text)
  const bytes = new Uint8Array(characters.length)
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i)
  return bytes
}

/** Canonical base64url without padding (RFC 7515 section 2). */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!isCanonical(text, base64url)) return undefined
  if (native) return native(text, { alphabet: 'base64url' })
  const plain = text.replaceAll('-', '+').replaceAll('_', '/')
  return fromBase64(plain + '='.repeat((4 - (plain.length % 4)) % 4))
}

/** Base64url without padding (RFC 7515 section 2). @param bytes a few of them: each becomes an argument of a call. */
export function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')
}

export function toHex(bytes: ArrayBuffer | Uint8Array): string {
  const from = new Uint8Array(bytes as ArrayBuffer)
  const digits = new Uint8Array(from.length * 2)
  from.forEach((byte, index) => {
    digits[index * 2] = digitOf(byte >> 4)
    digits[index * 2 + 1] = digitOf(byte & 15)
  })
  return new TextDecoder().decode(digits)
}

/** The character code of a hexadecimal digit. */
function digitOf(value: number): number {
  return value + (value < 10 ? 48 : 87)
}

/** Compares in constant time for a given length. */
export function isSame(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length
  for (let index = 0; index < one.length; index++) difference |= one[index]! ^ other[index]!
  return difference === 0
}
