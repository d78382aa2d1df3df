/** Makes static values, and moves them to the place where they are used. Pure. */
import type { Span, StaticValue } from './declaration.ts'
import type { Expression } from './expression.ts'

/** The root and the members of `a.b.c`. */
export function pathOf(expression: Expression): { root: Expression; members: string[] } | undefined {
  if (expression.kind === 'name') return { root: expression, members: [] }
  if (expression.kind !== 'member') return undefined
  const of = pathOf(expression.of)
  return of && { root: of.root, members: [...of.members, expression.property] }
}

export function staticValueOf(value: unknown, place: Span): StaticValue {
  if (Array.isArray(value)) return { kind: 'list', items: value.map((item) => staticValueOf(item, place)), place }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([key, inner]) => ({
      key,
      keyPlace: place,
      value: staticValueOf(inner, place),
    }))
    return { kind: 'record', entries, place }
  }
  return { kind: 'literal', value: value as string | number | boolean | null | undefined, place }
}

export function spread(list: StaticValue): StaticValue[] {
  if (list.kind !== 'list') return [{ ...list, kind: 'unknown', text: '...' } as StaticValue]
  return list.items.map((item) => ({ ...item, isElsewhere: true }))
}

/** A constant's value at the place where the constant is used, because a refusal must point there. */
export function relocate(value: StaticValue, place: Span, text: string): StaticValue {
  if (value.kind === 'unknown') return { kind: 'unknown', text, place, ...(value.isLost ? { isLost: true } : {}) }
  return value.kind === 'class' ? { ...value, place } : { ...value, place, isElsewhere: true }
}

/** Names a value in a message. */
export function describe(value: StaticValue): string {
  if (value.kind === 'literal') return value.value === undefined ? 'undefined' : JSON.stringify(value.value)
  return { list: 'a list', record: 'an object', class: 'a class', unknown: 'what it is' }[value.kind]
}
