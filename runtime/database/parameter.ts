/** Encodes a JavaScript value as Postgres reads it: text or NULL. */
import { toHex } from '../bytes.ts'

/** @throws RangeError for an invalid date, and for a value that is nested too deeply; TypeError for a value that JSON cannot hold. */
export function encodeParameter(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return value
  if (value instanceof Uint8Array) return `\\x${toHex(value)}`
  if (value instanceof ArrayBuffer) return encodeParameter(new Uint8Array(value))
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return arrayLiteral(value)
  if (typeof value === 'object') return JSON.stringify(value)
  if (typeof value === 'function' || typeof value === 'symbol')
    throw new TypeError(`a ${typeof value} cannot be the value of a query's parameter`)
  return String(value)
}

/** `{"a",NULL,{"b"}}`. An object in a list is written as JSON. */
function arrayLiteral(items: readonly unknown[]): string {
  const encoded = items.map((item) => {
    if (Array.isArray(item)) return arrayLiteral(item)
    const text = encodeParameter(item)
    if (text === null) return 'NULL'
    return quoted(text)
  })
  return `{${encoded.join(',')}}`
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
