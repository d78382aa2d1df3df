/** The time in which the key before a rotation is accepted beside the new one. */
import * as v from 'valibot'
import { strictObject } from '../shared/strict-object.ts'

/** Longest overlap in seconds, 30 days: a place that still has the old key by then is a forgotten one. */
const longestOverlap = 2_592_000

/** @param otherwise the overlap where the body names none. The body may be `{}`. */
export const rotationBody = (otherwise: number) =>
  strictObject({
    overlap_seconds: v.optional(
      v.pipe(
        v.number(),
        v.integer('it is a whole number of seconds'),
        v.minValue(0, 'it is 0 at least, which ends the previous key at once'),
        v.maxValue(longestOverlap, `it is ${longestOverlap} at most, which is 30 days`),
      ),
      otherwise,
    ),
  })

/** A key as the list of keys shows it. It never holds the key itself. */
export interface KeyRecord {
  kind: 'signing' | 'claims' | 'service_role' | 'sealing'
  id: string
  /** `next` does not sign yet, `previous` is accepted beside the current one, `ended` is refused. */
  state: 'next' | 'current' | 'previous' | 'ended'
  /** `binding` is a key that the deployment has set, `module` one that was made here. */
  source: 'binding' | 'module'
  /** `null` for a binding whose age is not known. */
  created_at: Date | null
  /** From then on the key is refused. `null` while no rotation has decided it. */
  valid_until: Date | null
}
