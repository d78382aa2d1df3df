/** Checks a whole application and returns all refusals at once. Pure: tests call it with plain declarations. */
import { type Application, constructedIn } from '../application.ts'
import { type ClassDeclaration, decoratorOf, hasRole, option, type Span } from '../declaration.ts'
import type { Refusal, Slug } from '../refusals/index.ts'
import { checkBundle } from './bundle.ts'
import { checkContainer } from './container.ts'
import type { BuildContext } from './context.ts'
import { checkCrons } from './crons.ts'
import { checkDeclarations } from './declarations.ts'
import { checkGates } from './gates.ts'
import { checkImports } from './imports.ts'
import { checkInjectors } from './injectors.ts'
import { checkModules } from './modules.ts'
import { checkRoutes } from './routes.ts'
import { checkSchemas } from './schemas.ts'
import { checkWebhooks } from './webhooks.ts'

/** Refusals that may be wrong while a file with a module does not parse, because the module's lists are not known. */
const listSlugs = new Set<Slug>([
  'class-not-listed',
  'dependency-not-provided',
  'entry-without-module',
  'export-not-provided',
])

/** @returns the refusals, sorted by file and place. */
export function checkApplication(application: Application, context: BuildContext): Refusal<Span>[] {
  const { syntaxErrors, classes, entry, lostImports, unreadable } = application.declarations
  const unparsed = new Set(syntaxErrors.map(({ place }) => place.file))
  const isComplete = syntaxErrors.length + lostImports.length + unreadable.length === 0
  const hasUnreadLists =
    unreadable.length > 0 ||
    [...unparsed].some((file) => file === entry || classes.some((one) => one.file === file && hasRole(one, 'Module')))
  const unsure = isComplete ? new Set<string>() : maybeListed(application)
  const refusals = [
    ...checkModules(application),
    ...checkContainer(application),
    ...checkRoutes(application, context),
    ...checkGates(application, context),
    ...checkInjectors(application, context),
    ...checkSchemas(application, context),
    ...checkBundle(application),
    ...checkWebhooks(application),
    ...checkCrons(application),
  ].filter(({ place, slug }) => {
    if (slug === 'class-not-listed' && unsure.has(keyOf(place))) return false
    return !unparsed.has(place.file) && !(hasUnreadLists && listSlugs.has(slug))
  })
  const all = [...checkImports(application.declarations), ...checkDeclarations(application, context), ...refusals]
  return all
    .filter(({ slug, isConsequence }) => !context.without?.has(slug) && (isComplete || !isConsequence))
    .sort(byPlace)
}

/** Places of the classes that a module may list by a name whose import leads to no file, and of all that these list. */
function maybeListed({ byId, declarations, modules }: Application): Set<string> {
  const lost = new Set(modules.flatMap(lostNames))
  const found = new Set(declarations.classes.filter(({ name }) => lost.has(name)))
  for (const one of found) {
    for (const list of ['imports', 'controllers', 'providers']) {
      for (const inner of constructedIn(byId, one, list)) found.add(inner)
    }
  }
  return new Set([...found].map(({ place }) => keyOf(place)))
}

function keyOf({ file, start }: Span): string {
  return `${file}:${start}`
}

function lostNames(module: ClassDeclaration): string[] {
  const record = decoratorOf(module, 'Module')?.arguments[0]
  return ['imports', 'controllers', 'providers'].flatMap((list) => {
    const given = option(record, list)
    return (given?.kind === 'list' ? given.items : []).flatMap((item) =>
      item.kind === 'unknown' && item.isLost ? [item.text] : [],
    )
  })
}

/** Orders refusals by file, place and slug. */
export function byPlace({ place: a, slug: one }: Refusal<Span>, { place: b, slug: other }: Refusal<Span>): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1
  return a.start - b.start || (one < other ? -1 : one > other ? 1 : 0)
}
