/** The differences that a change makes, for the audit trail. */

export interface Change {
  /** The names that lead to the value, joined by dots: `mail.host`. */
  path: string
  /** `null` where there was nothing. */
  from: unknown
  /** `null` where there is nothing any more. */
  to: unknown
}

/** Stands for a value that no entry may hold. */
const mask = '***'

/** Names of members that may hold a secret, wherever they stand. */
const secretName = /(?:secret|password|token|private_key|api_?key)$/i

/** The differences of two JSON objects, by the path of each value. A list is one value. */
export function changesBetween(before: object, after: object, above = ''): Change[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].sort().flatMap((name): Change[] => {
    const path = above === '' ? name : `${above}.${name}`
    const from: unknown = Object.hasOwn(before, name) ? before[name as never] : null
    const to: unknown = Object.hasOwn(after, name) ? after[name as never] : null
    if (isObject(from) && isObject(to)) return changesBetween(from, to, path)
    if (canonical(from) === canonical(to)) return []
    return [{ path, from: masked(name, from), to: masked(name, to) }]
  })
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** JSON whose members are in one order: Postgres and clients order them differently. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort()) : inner,
  )
}

/** A URL may carry a password before its host (RFC 3986 section 3.2.1). */
function masked(name: string, value: unknown): unknown {
  if (value === null) return null
  if (secretName.test(name)) return mask
  if (typeof value === 'string') return value.replace(/(?<=^[a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, `${mask}@`)
  if (Array.isArray(value)) return value.map((one) => masked('', one))
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, masked(key, one)]))
  return value
}
