/** Checks recipes among the providers: the used class extends or implements the provided one, and each class has one answer. */
import type { Application } from '../application.ts'
import {
  type ClassDeclaration,
  type ClassId,
  hasRole,
  listed,
  option,
  recipesOf,
  type Span,
  type StaticValue,
  unreadable,
} from '../declaration.ts'
import { hintFor } from '../elsewhere.ts'
import { consequence, type Refusal, refusal } from '../refusals/index.ts'
import { describe } from '../values.ts'

/** Keys of other containers' recipes, each with what to do instead. */
const others: Record<string, string> = {
  useValue: 'export the value from a file, and import it where it is needed',
  useFactory: 'write a class with `@Injectable()` whose constructor does the work of the factory',
  useExisting: 'type the parameter by the class that exists already',
}

/** Checks one item of `providers` that is an object. */
export function checkRecipe(item: StaticValue & { kind: 'record' }): Refusal<Span>[] {
  const hidden = item.entries.find(({ key }) => unreadable.has(key))
  if (hidden) {
    const { keyPlace, value } = hidden
    const [text, isLost] = value.kind === 'unknown' ? [value.text, value.isLost] : [hidden.key, undefined]
    return [consequence(refusal('option-not-constant', keyPlace, { what: 'an option of a recipe', text }), isLost)]
  }
  const twice = item.entries.find(({ key }, index) => item.entries.findIndex((entry) => entry.key === key) !== index)
  if (twice) return [refusal('option-twice', twice.keyPlace, { key: twice.key, where: 'a recipe' })]
  const other = item.entries.find(({ key }) => Object.hasOwn(others, key))
  if (other) {
    return [
      refusal('recipe-malformed', other.keyPlace, { reason: `has no "${other.key}"`, instead: others[other.key]! }),
    ]
  }
  const stranger = item.entries.find(({ key }) => key !== 'provide' && key !== 'useClass')
  if (stranger) {
    return [refusal('recipe-malformed', stranger.keyPlace, { reason: `has no "${stranger.key}"`, instead: undefined })]
  }
  return (['provide', 'useClass'] as const).flatMap((key) => {
    const given = option(item, key)
    if (given?.kind === 'class') return []
    if (!given) return [refusal('recipe-malformed', item.place, { reason: `needs "${key}"`, instead: undefined })]
    const found = given.kind === 'unknown' ? `\`${given.text}\`` : describe(given)
    const instead = key === 'provide' ? insteadOf(given) : undefined
    const about = { reason: `takes a class of this project as "${key}", not ${found}`, instead }
    return [consequence(refusal('recipe-malformed', given.place, about), given.kind === 'unknown' && given.isLost)]
  })
}

/** The fix for a recipe that provides something else than a class. */
function insteadOf(provided: StaticValue): string | undefined {
  if (provided.kind === 'unknown') return hintFor(provided.text)
  if (provided.kind !== 'literal') return undefined
  return 'provide a class, and type the constructor parameter by it, because there are no injection tokens'
}

/** Checks all recipes of the modules that the root reaches. */
export function checkRecipes({ byId, modules }: Application): Refusal<Span>[] {
  const first = new Map<ClassId, { answer: ClassId; place: Span }>()
  for (const module of modules) {
    for (const { id, place } of listed(module, 'providers')) if (!first.has(id)) first.set(id, { answer: id, place })
  }
  return modules.flatMap((module) =>
    recipesOf(module).flatMap(({ provide, useClass, place }) => {
      const [wanted, used] = [byId.get(provide.id), byId.get(useClass.id)]
      if (!wanted || !used) return []
      const refused: Refusal<Span>[] = []
      const about = { provided: wanted.name, used: used.name }
      if (!isSubtype(byId, used, wanted.id)) {
        const related = [{ message: `${wanted.name} is declared here`, place: wanted.place }]
        refused.push(refusal('recipe-not-assignable', useClass.place, about, related))
      }
      const role = (['Controller', 'Module', 'Webhook'] as const).find((one) => hasRole(used, one))
      if (role) {
        refused.push(
          refusal('recipe-malformed', useClass.place, {
            reason: `uses a provider, and ${used.name} has @${role}`,
            instead: 'move the code that is needed into a class of its own',
          }),
        )
      }
      const earlier = first.get(wanted.id)
      if (earlier && earlier.answer !== used.id) {
        const related = [{ message: 'the first is here', place: earlier.place }]
        refused.push(refusal('recipe-twice', place, { provided: wanted.name }, related))
      } else first.set(wanted.id, { answer: used.id, place })
      return refused
    }),
  )
}

/** Whether a class is another one, extends it or implements it. Only the clauses count: `tsc` checks the members. */
export function isSubtype(
  byId: ReadonlyMap<ClassId, ClassDeclaration>,
  declaration: ClassDeclaration,
  wanted: ClassId,
  seen: ReadonlySet<ClassId> = new Set(),
): boolean {
  if (declaration.id === wanted) return true
  if (seen.has(declaration.id)) return false
  const above = [declaration.base?.id, ...declaration.implemented.map(({ id }) => id)]
  return above.some((id) => {
    const parent = id === undefined ? undefined : byId.get(id)
    return parent !== undefined && isSubtype(byId, parent, wanted, new Set([...seen, declaration.id]))
  })
}
