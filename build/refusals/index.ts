/**
 * The catalogue of refusals: the only wording of any of them (contract 8.2). A slug is the name of the refusal
 * everywhere: in the output, in the tests' fixtures, in the documentation.
 */
import type { Location, Span } from '../declaration.ts'
import { bundle } from './bundle.ts'
import { container } from './container.ts'
import { declarations } from './declarations.ts'
import type { Definition } from './definition.ts'
import { gates } from './gates.ts'
import { routes } from './routes.ts'
import { schemas } from './schemas.ts'
import { webhooks } from './webhooks.ts'

/** In the order of the documentation. */
export const groups = { declarations, container, routes, schemas, gates, webhooks, bundle } satisfies Record<
  string,
  Record<string, Definition<never>>
>

export const refusals = { ...declarations, ...container, ...routes, ...schemas, ...gates, ...webhooks, ...bundle }

export type Slug = keyof typeof refusals

/** `P` is `Span` as it is judged, `Location` as it is said. */
export interface Refusal<P extends Span = Location> {
  slug: Slug
  severity: 'error' | 'warning'
  /** One sentence, values quoted, no full stop. */
  message: string
  place: P
  /** What to do. */
  fix: string
  related: Related<P>[]
  /** The source at the place may be a secret: it is not shown. */
  isMasked: boolean
  /** What `--fix` does: exactly what `fix` says; empty where that takes a decision. */
  edits: Edit[]
  /** It may only seem so, because something cannot be read or found that is refused itself. */
  isConsequence?: true
}

/** A second place that the refusal is about. */
export interface Related<P extends Span = Location> {
  message: string
  place: P
}

/** The text at a place is replaced; one without extent inserts. */
export interface Edit {
  place: Span
  text: string
}

type About<S extends Slug> = (typeof refusals)[S] extends Definition<infer A> ? A : never

/** Marks a refusal that is said only where everything could be read. @param isLost whether it depends on what could not. */
export function consequence(one: Refusal<Span>, isLost: boolean | undefined): Refusal<Span> {
  return isLost ? { ...one, isConsequence: true } : one
}

/** One refusal of the catalogue, at its place. */
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
