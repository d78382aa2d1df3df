/** The bytes that a signature covers, built from the raw body: no text is decoded before it is verified. */

const encoder = new TextEncoder()

/** @param signs template of `{ts}` and `{body}`; split once, so nothing in a value is taken for a placeholder. */
export function signedBytes(signs: string, timestamp: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const parts = signs
    .split(/(\{ts\}|\{body\})/)
    .map((part) => (part === '{body}' ? body : encoder.encode(part === '{ts}' ? timestamp : part)))
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
  }
  return bytes
}
