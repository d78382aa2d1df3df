/** Builds the bytes that a signature covers from the raw body. No text is decoded before it is verified. */

const encoder = new TextEncoder()

/** Parts by template. Templates are part of the project's source, so their number is small. */
const templates = new Map<string, readonly string[]>()

function partsOf(signs: string): readonly string[] {
  const known = templates.get(signs)
  if (known) return known
  const parts = signs.split(/(\{\w+\})/).filter((part) => part !== '')
  templates.set(signs, parts)
  return parts
}

/**
 * @param signs the template. It is split before values are inserted, so a value cannot add a placeholder.
 * @param values of `{ts}` and the like.
 */
export function signedBytes(
  signs: string,
  values: Readonly<Record<string, string>>,
  body: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const parts: (Uint8Array | string)[] = []
  let text = ''
  for (const part of partsOf(signs)) {
    if (part !== '{body}') text += Object.hasOwn(values, part) ? values[part] : part
    else {
      if (text !== '') parts.push(text)
      parts.push(body)
      text = ''
    }
  }
  if (text !== '') parts.push(text)
  return joined(parts.map((part) => (typeof part === 'string' && !isAscii(part) ? encoder.encode(part) : part)))
}

/**
 * Joins the parts to one array. The only part of a list comes back as it is, not as a copy.
 * @param parts bytes, and ASCII text. The text is written to its place directly, because encoding it into a buffer costs more.
 */
export function joined(parts: readonly (Uint8Array | string)[]): Uint8Array<ArrayBuffer> {
  const [only, ...others] = parts
  if (only instanceof Uint8Array && others.length === 0) return only as Uint8Array<ArrayBuffer>
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let offset = 0
  for (const part of parts) {
    if (typeof part === 'string')
      for (let index = 0; index < part.length; index++) bytes[offset + index] = part.charCodeAt(index)
    else bytes.set(part, offset)
    offset += part.length
  }
  return bytes
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x7f) return false
  return true
}

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text) as Uint8Array<ArrayBuffer>
}
