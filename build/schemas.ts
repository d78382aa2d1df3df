/** Which argument of an injector is its schema: what the refusals judge, and what the table is made of. Pure. */
import type { Decorator, StaticValue } from './declaration.ts'

/** `@Body(schema)`, `@Query(schema)`, `@Param('id', schema)`; `undefined` where there is none. */
export function schemaOf({ name, arguments: [first, second] }: Decorator): StaticValue | undefined {
  if (name === 'Body') return isGiven(first) ? first : undefined
  if (name === 'Query' && isWholeQuery(first)) return first
  const takesName = name === 'Param' || name === 'Query' || name === 'Header'
  return takesName && isGiven(second) ? second : undefined
}

/** `@Query(schema)` takes all parameters at once; `@Query('page')` one. A text is a name. */
export function isWholeQuery(first: StaticValue | undefined): boolean {
  return isGiven(first) && first.kind !== 'literal'
}

export function isGiven(fact: StaticValue | undefined): fact is StaticValue {
  return fact !== undefined && !(fact.kind === 'literal' && fact.value === undefined)
}
