/** Cap'n Proto's text format, in which workerd reads its configuration. */

/** A text, with the escapes of C. Every value goes through here, so that none of them can end its text. */
export function quoted(text: string): string {
  const escaped = text.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')
  return `"${escaped.replace(/[\u0000-\u001f\u007f]/g, hexadecimal)}"`
}

function hexadecimal(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`
}

/** A struct of fields that are written already. A field without a value is left out. */
export function struct(fields: Record<string, string | undefined>): string {
  const given = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : `${name} = ${value}`))
  return `(${given.join(', ')})`
}

/** @param items one a line. */
export function list(items: readonly string[]): string {
  return items.length === 0 ? '[]' : `[\n    ${items.join(',\n    ')},\n  ]`
}
