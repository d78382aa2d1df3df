/** Values as facts: of constants that stand elsewhere, of packages, of lists that are spread. Pure. */
import type { Span, StaticValue } from './declaration.ts'
import type { Expression } from './expression.ts'

/** `a.b.c` as its root and the members that follow. */
export function pathOf(expression: Expression): { root: Expression; members: string[] } | undefined {
  if (expression.kind === 'name') return { root: expression, members: [] }
  if (expression.kind !== 'member') return undefined
  const of = pathOf(expression.of)
  return of && { root: of.root, members: [...of.members, expression.property] }
}

export function factOf(value: unknown, place: Span): StaticValue {
  if (Array.isArray(value)) return { kind: 'list', items: value.map((item) => factOf(item, place)), place }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([key, inner]) => ({ key, keyPlace: place, value: factOf(inner, place) }))
    return { kind: 'record', entries, place }
  }
  return { kind: 'literal', value: value as string | number | boolean | null | undefined, place }
}

export function spread(list: StaticValue): StaticValue[] {
  if (list.kind !== 'list') return [{ ...list, kind: 'unknown', text: '...' } as StaticValue]
  return list.items.map((item) => ({ ...item, isElsewhere: true }))
}

/** A constant's value, at the place where the constant is used: that is where a refusal must point. */
export function relocate(fact: StaticValue, place: Span, text: string): StaticValue {
  if (fact.kind === 'unknown') return { kind: 'unknown', text, place, ...(fact.isLost ? { isLost: true } : {}) }
  return fact.kind === 'class' ? { ...fact, place } : { ...fact, place, isElsewhere: true }
}

/** A value as a message names it. */
export function describe(fact: StaticValue): string {
  if (fact.kind === 'literal') return fact.value === undefined ? 'undefined' : JSON.stringify(fact.value)
  return { list: 'a list', record: 'an object', class: 'a class', unknown: 'what it is' }[fact.kind]
}
