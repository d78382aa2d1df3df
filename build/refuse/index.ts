/** All refusals of a project at once, sorted by place. Pure: tests feed it plain declarations. */
import type { DeclaredRole } from '../../src/wire/project.ts'
import { type Application, constructedIn } from '../application.ts'
import { type ClassDeclaration, decoratorOf, hasRole, option, type Span } from '../declaration.ts'
import type { Refusal, Slug } from '../refusals/index.ts'
import { checkBundle } from './bundle.ts'
import { checkContainer } from './container.ts'
import { checkDeclarations } from './declarations.ts'
import { checkGates } from './gates.ts'
import { checkImports } from './imports.ts'
import { checkInjectors } from './injectors.ts'
import { checkModules } from './modules.ts'
import { checkRoutes } from './routes.ts'
import { checkSchemas } from './schemas.ts'
import { checkWebhooks } from './webhooks.ts'

/** What a project may not take, and what else it declares. */
export interface BuildContext {
  /** Path prefixes that somebody else answers. */
  reserved: readonly Reserved[]
  /** Declared in `stack/roles.json`. */
  roles: readonly DeclaredRole[]
  /**
   * Paths below which every route administers the stack, and so declares `serviceRole` (contract 4.6). The auth module alone has
   * such paths: without them, the rule itself is refused.
   */
  administered?: readonly string[] | undefined
  /** Rules that are not in force: what shows that each of them is needed. */
  without?: ReadonlySet<Slug>
}

export interface Reserved {
  /** Without a trailing slash. */
  path: string
  owner: string
}

/** What may only seem so while a file with a module in it does not parse: its lists are not known. */
const ofLists = new Set<Slug>([
  'class-not-listed',
  'dependency-not-provided',
  'entry-without-module',
  'export-not-provided',
])

export function refuse(application: Application, context: BuildContext): Refusal<Span>[] {
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
  ].filter(({ place, slug }) => {
    if (slug === 'class-not-listed' && unsure.has(keyOf(place))) return false
    return !unparsed.has(place.file) && !(hasUnreadLists && ofLists.has(slug))
  })
  const all = [...checkImports(application.declarations), ...checkDeclarations(application, context), ...refusals]
  return all
    .filter(({ slug, isConsequence }) => !context.without?.has(slug) && (isComplete || !isConsequence))
    .sort(byPlace)
}

/** The classes that a module may mean by a name whose import leads nowhere, with all that these list: where each stands. */
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
    const fact = option(record, list)
    return (fact?.kind === 'list' ? fact.items : []).flatMap((item) =>
      item.kind === 'unknown' && item.isLost ? [item.text] : [],
    )
  })
}

export function byPlace({ place: a, slug: one }: Refusal<Span>, { place: b, slug: other }: Refusal<Span>): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1
  return a.start - b.start || (one < other ? -1 : one > other ? 1 : 0)
}
