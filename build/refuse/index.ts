/** All refusals of a project at once, sorted by place. Pure: tests feed it plain declarations. */
import type { DeclaredRole } from '../../src/wire/project.ts'
import { type Application, constructedIn } from '../application.ts'
import { type ClassDeclaration, hasRole, markOf, option, type Place } from '../declaration.ts'
import type { Refusal, Slug } from '../refusals/index.ts'
import { refuseBundle } from './bundle.ts'
import { refuseContainer } from './container.ts'
import { refuseDeclarations } from './declarations.ts'
import { refuseGates } from './gates.ts'
import { refuseImports } from './imports.ts'
import { refuseInjectors } from './injectors.ts'
import { refuseModules } from './modules.ts'
import { refuseRoutes } from './routes.ts'
import { refuseSchemas } from './schemas.ts'
import { refuseWebhooks } from './webhooks.ts'

/** What a project may not take, and what else it declares. */
export interface Circumstances {
  /** Path prefixes that somebody else answers. */
  reserved: readonly Reserved[]
  /** Declared in `stack/roles.json`. */
  roles: readonly DeclaredRole[]
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

export function refuse(application: Application, circumstances: Circumstances): Refusal<Place>[] {
  const { syntaxErrors, classes, entry, lostImports, unreadable } = application.declarations
  const unparsed = new Set(syntaxErrors.map(({ place }) => place.file))
  const isComplete = syntaxErrors.length + lostImports.length + unreadable.length === 0
  const hasUnreadLists =
    unreadable.length > 0 ||
    [...unparsed].some((file) => file === entry || classes.some((one) => one.file === file && hasRole(one, 'Module')))
  const unsure = isComplete ? new Set<string>() : maybeListed(application)
  const refusals = [
    ...refuseModules(application),
    ...refuseContainer(application),
    ...refuseRoutes(application, circumstances),
    ...refuseGates(application, circumstances),
    ...refuseInjectors(application, circumstances),
    ...refuseSchemas(application, circumstances),
    ...refuseBundle(application),
    ...refuseWebhooks(application),
  ].filter(({ place, slug }) => {
    if (slug === 'class-not-listed' && unsure.has(keyOf(place))) return false
    return !unparsed.has(place.file) && !(hasUnreadLists && ofLists.has(slug))
  })
  const all = [
    ...refuseImports(application.declarations),
    ...refuseDeclarations(application, circumstances),
    ...refusals,
  ]
  return all
    .filter(({ slug, isConsequence }) => !circumstances.without?.has(slug) && (isComplete || !isConsequence))
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

function keyOf({ file, start }: Place): string {
  return `${file}:${start}`
}

function lostNames(module: ClassDeclaration): string[] {
  const record = markOf(module, 'Module')?.arguments[0]
  return ['imports', 'controllers', 'providers'].flatMap((list) => {
    const fact = option(record, list)
    return (fact?.kind === 'list' ? fact.items : []).flatMap((item) =>
      item.kind === 'unknown' && item.isLost ? [item.text] : [],
    )
  })
}

export function byPlace({ place: a, slug: one }: Refusal<Place>, { place: b, slug: other }: Refusal<Place>): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1
  return a.start - b.start || (one < other ? -1 : one > other ? 1 : 0)
}
