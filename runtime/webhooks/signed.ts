/** The bytes that a signature covers, built from the raw body: no text is decoded before it is verified. */

const encoder = new TextEncoder()

/** A template's parts, by the template: a project has few. */
const templates = new Map<string, readonly string[]>()

function partsOf(signs: string): readonly string[] {
  const known = templates.get(signs)
  if (known) return known
  const parts = signs.split(/(\{\w+\})/).filter((part) => part !== '')
  templates.set(signs, parts)
  return parts
}

/** @param signs template; split once, so nothing in a value is taken for a placeholder. @param values of `{ts}` and the like. */
export function signedBytes(
  signs: string,
  values: Readonly<Record<string, string>>,
  body: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = []
  let text = ''
  for (const part of partsOf(signs)) {
    if (part !== '{body}') text += Object.hasOwn(values, part) ? values[part] : part
    else {
      if (text !== '') parts.push(encoder.encode(text))
      parts.push(body)
      text = ''
    }
  }
  if (text !== '') parts.push(encoder.encode(text))
  return joined(parts)
}

export function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const [only, ...others] = parts
  if (only && others.length === 0) return only as Uint8Array<ArrayBuffer>
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
  }
  return bytes
}

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text) as Uint8Array<ArrayBuffer>
}
