/** Finds text that Postgres cannot hold: NUL, and half of a surrogate pair. The client sent it, so the request is refused before the handler. */
import type { FieldError } from '../src/wire/envelope.ts'
import { shortened } from './schemas.ts'
import type { Parameter } from './table.ts'

/** Largest number of fields that one answer names, because a body may have any number. */
export const mostFields = 20

const reason = 'the text holds a character that cannot be stored: U+0000, or half of a surrogate pair'

/** An escape of U+0000, or of half of a surrogate pair, whose other half may follow. */
const suspect = /\\u(?:0000|d[89a-f])/i

/** @param bodyText the body as the client sent it. JSON in UTF-8 can hold such a character only as an escape. */
export function unstorableFields(parameter: Parameter, value: unknown, bodyText: string | undefined): FieldError[] {
  switch (parameter.from) {
    case 'param':
    case 'query':
    case 'header':
      return [value].flat().some((text) => typeof text === 'string' && !isStorable(text))
        ? [{ path: parameter.name, reason }]
        : []
    case 'wholeQuery':
      return unstorableWithin(value, 'query')
    case 'body':
      return bodyText !== undefined && suspect.test(bodyText) ? unstorableWithin(value, 'body') : []
    default:
      return []
  }
}

export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/** Uses no recursion, because a deeply nested body would overflow the call stack. */
function unstorableWithin(root: unknown, whole: string): FieldError[] {
  const found: FieldError[] = []
  const stack: { value: unknown; path: string }[] = [{ value: root, path: '' }]
  while (stack.length > 0 && found.length < mostFields) {
    const { value, path } = stack.pop()!
    if (typeof value === 'string') {
      if (!isStorable(value)) found.push({ path: path || whole, reason })
    } else if (typeof value === 'object' && value !== null) {
      const entries = Object.entries(value).reverse() // the stack returns them in their original order
      if (entries.some(([key]) => !isStorable(key))) found.push({ path: path || whole, reason })
      for (const [key, inner] of entries) {
        if (typeof inner === 'string' || typeof inner === 'object') {
          stack.push({ value: inner, path: shortened(path === '' ? key : `${path}.${key}`) })
        }
      }
    }
  }
  return found
}
