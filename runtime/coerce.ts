/** Converts text of an address or a header to the numbers, booleans and lists that its schema takes (contract 2.8). */
import type { Coercion, Parameter, TextForm } from './table.ts'

export const texts = { listed, coerced }

/** @returns text where a parameter occurs once, a list where it is repeated, `undefined` where it is absent. */
function listed(query: URLSearchParams, name: string): string | string[] | undefined {
  const [first, ...others] = query.getAll(name)
  return first === undefined || others.length === 0 ? first : [first, ...others]
}

/**
 * @param value text, a list of texts, or for a whole query an object of both. Any other value is returned as it is.
 * @returns text unchanged where it has no form that the schema takes, so that the schema's own message names the fault.
 */
function coerced(parameter: Parameter, value: unknown): unknown {
  if (!('coerce' in parameter) || !parameter.coerce || value === undefined) return value
  const { coerce } = parameter
  if (!('named' in coerce)) return inForm(coerce, split(parameter, coerce, value))
  const named = new Map(coerce.named)
  return Object.fromEntries(
    Object.entries(value as Record<string, string | string[]>).map(([name, given]) => {
      const own = named.get(name) ?? coerce.rest
      return [name, own ? inForm(own, given) : given]
    }),
  )
}

/** Splits a list in a path or a header at its commas (RFC 9110 section 5.6.1, OpenAPI style "simple"). */
function split({ from }: Parameter, { one, list }: Coercion, value: unknown): string | string[] {
  const isJoined = (from === 'param' || from === 'header') && typeof value === 'string' && list && !one
  return isJoined ? value.split(',').map((item) => item.trim()) : (value as string | string[])
}

function inForm({ one, list }: Coercion, given: string | string[]): unknown {
  if (typeof given === 'string') return one ? read(given, one) : [read(given, list!)]
  return list ? given.map((text) => read(text, list)) : given
}

function read(text: string, forms: readonly TextForm[]): unknown {
  for (const form of forms) {
    const value = form === 'number' ? numberOf(text) : text === 'true' ? true : text === 'false' ? false : undefined
    if (value !== undefined) return value
  }
  return text
}

/** The form of a number in JSON. `Number()` alone would also accept an empty text, `0x10` and spaces. */
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i

/** Beyond 2^53 several integers have one value in JavaScript. There a text is converted only if JavaScript writes the number the same way. */
function numberOf(text: string): number | undefined {
  if (!number.test(text)) return undefined
  const value = Number(text)
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER && String(value) !== text) return undefined
  return value + 0 // -0 becomes 0
}
