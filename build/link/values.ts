/** What a judged declaration holds. Pure. */
import type { StaticValue } from '../declaration.ts'

/** A fact that has been judged, as the value it stands for. */
export function plain(fact: StaticValue): unknown {
  if (fact.kind === 'literal') return fact.value
  if (fact.kind === 'list') return fact.items.map(plain)
  if (fact.kind !== 'record') return undefined
  return Object.fromEntries(
    fact.entries.map(({ key, value }) => [key, plain(value)] as const).filter(([, value]) => value !== undefined),
  )
}
