/** The shape of a refusal's definition. */

export interface Definition<A> {
  severity?: 'warning'
  /** The source at the place is not shown: it may be a secret. */
  isMasked?: true
  /** When it is refused: one sentence without a full stop. */
  summary: string
  /** What would happen otherwise. */
  why: string
  /** One sentence, values quoted, no full stop. */
  message: (about: A) => string
  /** What to do. */
  fix: (about: A) => string
}

export function define<A>(definition: Definition<A>): Definition<A> {
  return definition
}

export function didYouMean(near: string | undefined): string {
  return near === undefined ? '' : `, did you mean "${near}"?`
}
