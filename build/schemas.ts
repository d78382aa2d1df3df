/** Finds the schema among the arguments of an injector. Pure. */
import type { Decorator, StaticValue } from './declaration.ts'

/** The schema of `@Body(schema)`, `@Query(schema)` or `@Param('id', schema)`. `undefined` where there is none. */
export function schemaOf({ name, arguments: [first, second] }: Decorator): StaticValue | undefined {
  if (name === 'Body') return isGiven(first) ? first : undefined
  if (name === 'Query' && isWholeQuery(first)) return first
  const takesName = name === 'Param' || name === 'Query' || name === 'Header'
  return takesName && isGiven(second) ? second : undefined
}

/** `@Query(schema)` takes all parameters at once. `@Query('page')` takes one: a string is its name. */
export function isWholeQuery(first: StaticValue | undefined): boolean {
  return isGiven(first) && first.kind !== 'literal'
}

/** The argument is there, and not `undefined`. */
export function isGiven(value: StaticValue | undefined): value is StaticValue {
  return value !== undefined && !(value.kind === 'literal' && value.value === undefined)
}
