/**
 * The catalogue of refusals (contract 8.2). A slug names a refusal everywhere: in the output, in the fixtures of the tests and
 * in `docs/refusals.md`. The file of a slug's group has its only wording.
 */
import type { Location, Span } from '../declaration.ts'
import { bundle } from './bundle.ts'
import { container } from './container.ts'
import { crons } from './crons.ts'
import { declarations } from './declarations.ts'
import type { Definition } from './definition.ts'
import { gates } from './gates.ts'
import { routes } from './routes.ts'
import { schemas } from './schemas.ts'
import { webhooks } from './webhooks.ts'

/** Every slug below the name of its file, in the order of the documentation. `test/shape/lists.test.ts` proves it complete. */
export const slugs = {
  /** Files, classes, decorators and their arguments: `declarations.ts`. */
  declarations: [
    'syntax-error',
    'file-unreadable',
    'import-lost',
    'entry-without-module',
    'entry-with-two-modules',
    'default-export',
    'class-not-exported',
    'class-abstract',
    'class-with-two-roles',
    'decorator-twice',
    'decorator-not-called',
    'decorator-not-imported',
    'decorator-as-value',
    'decorator-misplaced',
    'decorator-unknown',
    'option-not-constant',
    'option-unknown',
    'option-missing',
    'option-malformed',
    'option-twice',
    'argument-missing',
    'argument-superfluous',
    'handler-unfit',
    'handler-twice',
    'decorator-foreign',
    'tsconfig-without-decorators',
    'tsconfig-with-metadata',
    'wrapper-not-called',
    'hook-not-called',
  ],
  /** Modules, their lists and the dependencies of classes: `container.ts`. */
  container: [
    'class-not-listed',
    'listed-in-the-wrong-list',
    'module-cycle',
    'application-default-misplaced',
    'export-not-provided',
    'dependency-not-a-class',
    'dependency-not-provided',
    'dependency-not-exported',
    'dependency-cycle',
    'base-unreadable',
    'provider-not-injectable',
    'recipe-malformed',
    'recipe-not-assignable',
    'recipe-twice',
    'listed-twice',
    'provided-twice',
  ],
  /** Paths, routes and the parameters of handlers: `routes.ts`. */
  routes: [
    'path-malformed',
    'path-reserved',
    'route-twice',
    'route-ambiguous',
    'parameter-without-injector',
    'parameter-with-two-injectors',
    'path-parameter-unknown',
    'body-on-bodyless-route',
    'body-twice',
    'routes-inherited',
    'path-parameter-unused',
  ],
  /** Schemas, and types that no schema checks: `schemas.ts`. */
  schemas: [
    'schema-not-standard',
    'body-unchecked',
    'text-typed-otherwise',
    'schema-value-not-standard',
    'schema-not-evaluated',
    'schema-partly-unsaid',
    'result-partly-unsaid',
    'text-refused-by-schema',
  ],
  /** Rules, row-level security and CORS: `gates.ts`. */
  gates: [
    'permission-malformed',
    'role-unknown',
    'permission-unknown',
    'user-on-public-route',
    'optional-user-on-required-route',
    'gate-never-admits-anonymous',
    'device-body-unsigned',
    'service-role-in-project',
    'management-route-unguarded',
    'user-type-mismatch',
    'optional-user-not-nullable',
    'policy-call-per-row',
    'table-without-row-security',
    'view-runs-as-owner',
    'cors-open',
    'cors-misplaced',
  ],
  /** Webhooks and their events: `webhooks.ts`. */
  webhooks: [
    'webhook-without-scheme',
    'webhook-with-two-schemes',
    'webhook-name-missing',
    'webhook-name-malformed',
    'webhook-name-twice',
    'webhook-provider-unknown',
    'webhook-secret-inline',
    'webhook-without-events',
    'webhook-event-twice',
    'webhook-event-impossible',
    'webhook-signs-without-body',
    'webhook-timestamp-without-header',
    'webhook-timestamp-unsigned',
    'webhook-placeholder-unknown',
    'webhook-id-literal',
    'webhook-verify-misplaced',
    'webhook-result-dropped',
    'injector-in-webhook',
  ],
  /** Scheduled methods: `crons.ts`. */
  crons: [
    'cron-misplaced',
    'cron-schedule-malformed',
    'cron-schedule-twice',
    'cron-with-parameters',
    'cron-weekday-numbered',
    'crons-inherited',
  ],
  /** Code that the worker could not load or run: `bundle.ts`. */
  bundle: [
    'bundle-failed',
    'io-outside-request',
    'ambient-outside-request',
    'eval-in-source',
    'eval-in-package',
    'reflect-metadata-reached',
    'bundle-over-budget',
  ],
} as const

/** The definitions of each group. */
export const groups = { declarations, container, routes, schemas, gates, webhooks, crons, bundle } satisfies {
  [Group in keyof typeof slugs]: Record<(typeof slugs)[Group][number], Definition<never>>
}

export const refusals = {
  ...declarations,
  ...container,
  ...routes,
  ...schemas,
  ...gates,
  ...webhooks,
  ...crons,
  ...bundle,
}

export type Slug = keyof typeof refusals

/** One finding. Its places are a `Span` while declarations are checked, and a `Location` once it is printed. */
export interface Refusal<P extends Span = Location> {
  slug: Slug
  severity: 'error' | 'warning'
  /** States what is wrong, in one sentence without a full stop. */
  message: string
  place: P
  /** States what to do next. */
  fix: string
  related: Related<P>[]
  /** The source at the place may be a secret, so no output shows it. */
  isMasked: boolean
  /** The edits by which `--fix` does what `fix` says. Empty where that takes a decision. */
  edits: Edit[]
  /** The finding may follow from a file or an import that cannot be read and is refused itself. */
  isConsequence?: true
}

/** A further place that the refusal concerns. */
export interface Related<P extends Span = Location> {
  message: string
  place: P
}

/** Replaces the text at a place. A place without extent inserts the text. */
export interface Edit {
  place: Span
  text: string
}

type About<S extends Slug> = (typeof refusals)[S] extends Definition<infer A> ? A : never

/**
 * Marks a refusal that is reported only where everything could be read.
 *
 * @param isLost whether it depends on a file or an import that could not be read.
 */
export function consequence(one: Refusal<Span>, isLost: boolean | undefined): Refusal<Span> {
  return isLost ? { ...one, isConsequence: true } : one
}

/** @returns one refusal of the catalogue at its place. */
export function refusal<S extends Slug>(
  slug: S,
  place: Span,
  about: About<S>,
  related: Related<Span>[] = [],
  edits: Edit[] = [],
): Refusal<Span> {
  const { severity = 'error', isMasked = false, message, fix } = refusals[slug] as Definition<About<S>>
  return { slug, severity, message: message(about), place, fix: fix(about), related, isMasked, edits }
}
