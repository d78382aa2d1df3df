/** The shape of a refusal's definition, with the rules for its wording. */

export interface Definition<A> {
  severity?: 'warning'
  /** The source at the place may be a secret, so no output shows it. */
  isMasked?: true
  /** States what is refused, in one sentence without a full stop. */
  summary: string
  /** States what would happen if the build accepted it. */
  why: string
  /** States what is wrong with which declaration, in one sentence with quoted values and without a full stop. */
  message: (about: A) => string
  /** States what to do next. */
  fix: (about: A) => string
}

export function define<A>(definition: Definition<A>): Definition<A> {
  return definition
}

export function didYouMean(near: string | undefined): string {
  return near === undefined ? '' : `, did you mean "${near}"?`
}
