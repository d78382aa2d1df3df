/** Checks imports and files: each import that leads to no file, and each unreadable file, is reported once. */
import type { Declarations, LostImport, Span } from '../declaration.ts'
import { type Refusal, refusal } from '../refusals/index.ts'
import { packageNameOf } from '../specifiers.ts'

/** Number of further places that the refusal of one package or alias shows: more would hide the other refusals. */
const shownPlaces = 2

export function checkImports({ lostImports, unreadable }: Declarations): Refusal<Span>[] {
  const groups = Map.groupBy(lostImports, keyOf)
  const lost = [...groups.values()].map((group) => {
    const [first, ...others] = group as [LostImport, ...LostImport[]]
    const { kind, place, alias, relative } = first
    const specifier = kind === 'package' ? packageNameOf(first.specifier) : first.specifier
    const related = others.slice(0, shownPlaces).map((other, index) => {
      const rest = others.length - shownPlaces
      const isLast = index === shownPlaces - 1 && rest > 0
      return { message: isLast ? `and here, and in ${rest} more` : 'and here', place: other.place }
    })
    const about = { specifier, count: group.length, kind, ...(alias && { alias }), ...(relative && { relative }) }
    return refusal('import-lost', place, about, related)
  })
  const failed = unreadable.map(({ place, reason, isOfSystem }) =>
    refusal('file-unreadable', place, { reason, isOfSystem }),
  )
  return [...lost, ...failed]
}

/** A missing package or alias is one mistake in all its places. A wrong path is a mistake of its own in each place. */
function keyOf({ kind, specifier, place, alias }: LostImport): string {
  if (kind === 'builtin') return `builtin ${specifier}`
  if (kind === 'package') return `package ${packageNameOf(specifier)}`
  if (kind === 'alias' || kind === 'prefix') return `alias ${alias!.pattern} ${alias!.target}`
  return `${kind} ${place.file} ${place.start}`
}
