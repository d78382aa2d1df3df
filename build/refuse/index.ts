/** All refusals of a project at once, sorted by place. Pure: tests feed it plain declarations. */
import type { DeclaredRole } from '../../src/wire/project.ts'
import type { Application } from '../application.ts'
import { hasRole, type Place } from '../declaration.ts'
import type { Refusal, Slug } from '../refusals/index.ts'
import { refuseBundle } from './bundle.ts'
import { refuseContainer } from './container.ts'
import { refuseDeclarations } from './declarations.ts'
import { refuseGates } from './gates.ts'
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

/** What may only seem so where an import of the same file leads nowhere. */
const ofImports = new Set<Slug>(['dependency-not-a-class', 'option-not-constant', 'base-unreadable'])

export function refuse(application: Application, circumstances: Circumstances): Refusal<Place>[] {
  const { syntaxErrors, classes, entry, lostImports } = application.declarations
  const unparsed = new Set(syntaxErrors.map(({ place }) => place.file))
  const incomplete = new Set(lostImports.map(({ place }) => place.file))
  const hasUnreadLists = [...unparsed].some(
    (file) => file === entry || classes.some((one) => one.file === file && hasRole(one, 'Module')),
  )
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
    if (unparsed.has(place.file) || (hasUnreadLists && ofLists.has(slug))) return false
    return !(incomplete.has(place.file) && ofImports.has(slug))
  })
  const all = [...refuseDeclarations(application, circumstances), ...refusals]
  return all.filter(({ slug }) => !circumstances.without?.has(slug)).sort(byPlace)
}

export function byPlace({ place: a, slug: one }: Refusal<Place>, { place: b, slug: other }: Refusal<Place>): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1
  return a.start - b.start || (one < other ? -1 : one > other ? 1 : 0)
}
