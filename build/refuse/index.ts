/** All refusals of a project at once, sorted by place. Pure: tests feed it plain declarations. */
import type { DeclaredRole } from '../../src/wire/project.ts'
import type { Application } from '../application.ts'
import { type ClassDeclaration, type Fact, hasRole, markOf, option, type Place } from '../declaration.ts'
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
    [...unparsed].some(
      (file) => file === entry || classes.some((one) => one.file === file && hasRole(one, 'Module')),
    ) ||
    (!isComplete && application.modules.some(hasLostList))
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

/** Whether a list of a module holds something that cannot be read or found. */
function hasLostList(module: ClassDeclaration): boolean {
  const record = markOf(module, 'Module')?.arguments[0]
  const isLost = (fact: Fact | undefined) => fact?.kind === 'unknown' && fact.isLost === true
  return ['imports', 'controllers', 'providers'].some((list) => {
    const fact = option(record, list)
    return isLost(fact) || (fact?.kind === 'list' && fact.items.some(isLost))
  })
}

export function byPlace({ place: a, slug: one }: Refusal<Place>, { place: b, slug: other }: Refusal<Place>): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1
  return a.start - b.start || (one < other ? -1 : one > other ? 1 : 0)
}
