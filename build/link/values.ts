/** Converts the static values of accepted declarations. Pure. */
import type { StaticValue } from '../declaration.ts'

/** @returns the JavaScript value that a static value stands for. */
export function plain(given: StaticValue): unknown {
  if (given.kind === 'literal') return given.value
  if (given.kind === 'list') return given.items.map(plain)
  if (given.kind !== 'record') return undefined
  return Object.fromEntries(
    given.entries.map(({ key, value }) => [key, plain(value)] as const).filter(([, value]) => value !== undefined),
  )
}
