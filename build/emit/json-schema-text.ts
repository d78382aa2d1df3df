/** Writes JSON Schema as TypeScript types. Pure. */
import { componentPrefix, type Json } from './json.ts'

export function typeText(schema: unknown): string {
  if (schema === false) return 'never'
  if (typeof schema !== 'object' || schema === null) return 'unknown'
  const { $ref: to, enum: values, type, anyOf, oneOf, allOf, not, ...own } = schema as Json
  if (typeof to === 'string') return to.startsWith(componentPrefix) ? to.slice(componentPrefix.length) : 'unknown'
  if ('const' in own) return literal(own['const'])
  if (Array.isArray(values)) return union(values.map(literal))
  const parts = [
    ...(type === undefined
      ? []
      : [union((Array.isArray(type) ? type : [type]).map((one) => simple(one, schema as Json)))]),
    ...[anyOf, oneOf].flatMap((branches) => (Array.isArray(branches) ? [union(branches.map(typeText))] : [])),
    ...(Array.isArray(allOf) ? allOf.map(typeText) : []),
  ].filter((part) => part !== 'unknown')
  if (parts.length === 0)
    return typeof not === 'object' && not !== null && Object.keys(not).length === 0 ? 'never' : 'unknown'
  const distinct = [...new Set(parts)]
  return distinct.length === 1 ? distinct[0]! : distinct.map((part) => (isUnion(part) ? `(${part})` : part)).join(' & ')
}

/** A declaration of a named type. A schema of one object becomes an interface. */
export function declarationText(name: string, schema: Json): string {
  const text = typeText(schema)
  return text.startsWith('{ ') && isOneObject(schema)
    ? `export interface ${name} ${text}\n`
    : `export type ${name} = ${text}\n`
}

const isOneObject = ({ type, anyOf, oneOf, allOf }: Json) => type === 'object' && !anyOf && !oneOf && !allOf

function simple(type: unknown, schema: Json): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type
    case 'number':
    case 'integer':
      return 'number'
    case 'array':
      return list(schema)
    case 'object':
      return object(schema)
    default:
      return 'unknown'
  }
}

function list({ prefixItems, items, minItems }: Json): string {
  const rest = items === undefined || items === true ? 'unknown' : typeText(items)
  if (!Array.isArray(prefixItems)) return items === false ? '[]' : arrayOf(rest)
  const least = typeof minItems === 'number' ? minItems : 0
  const first = prefixItems.map((item, index) => {
    const text = typeText(item)
    return index < least ? text : `${isUnion(text) ? `(${text})` : text}?`
  })
  return `[${[...first, ...(items === false ? [] : [`...${arrayOf(rest)}`])].join(', ')}]`
}

const arrayOf = (item: string) => (isUnion(item) || item.includes(' & ') ? `(${item})[]` : `${item}[]`)

function object({ properties, required, additionalProperties }: Json): string {
  const needed = new Set(Array.isArray(required) ? required : [])
  const known = Object.entries((properties ?? {}) as Json)
  const members = known.map(([name, member]) => `${keyText(name)}${needed.has(name) ? '' : '?'}: ${typeText(member)}`)
  const isOpen =
    typeof additionalProperties === 'object' ? additionalProperties !== null : additionalProperties === true
  // TypeScript requires an index signature to admit the types of all other members.
  if (isOpen || (known.length === 0 && additionalProperties !== false))
    members.push(`[name: string]: ${known.length > 0 ? 'unknown' : typeText(additionalProperties)}`)
  return members.length === 0 ? '{ [name: string]: never }' : `{ ${members.join('; ')} }`
}

function union(parts: readonly string[]): string {
  const distinct = [...new Set(parts)]
  return distinct.includes('unknown') ? 'unknown' : distinct.join(' | ')
}

/** Errs on the side of true, because superfluous parentheses change nothing. */
const isUnion = (text: string) => text.includes(' | ')

function literal(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  return 'unknown'
}

/** A member's name, quoted where it is no identifier. */
export function keyText(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)
}

/** Any text as a string literal of TypeScript. */
export function quoted(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${inner.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}'`
}
