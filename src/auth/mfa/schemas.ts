/** Schemas of the bodies of `mfa/routes.ts`. */
import * as v from 'valibot'

const code = v.pipe(v.string(), v.trim(), v.regex(/^\d{6}$/, 'a code has 6 digits'))
/** Largest number of characters of a recovery code, with the dashes or blanks between its parts. */
const longestRecoveryCode = 40

export const enrolment = v.strictObject({ label: v.optional(v.pipe(v.string(), v.trim(), v.maxLength(100)), '') })
export const verification = v.strictObject({ factor_id: v.pipe(v.string(), v.maxLength(80)), code })
export const stepUp = v.strictObject({ code })
export const answer = v.union(
  [
    v.strictObject({ challenge_id: v.pipe(v.string(), v.maxLength(80)), code }),
    v.strictObject({
      challenge_id: v.pipe(v.string(), v.maxLength(80)),
      recovery_code: v.pipe(v.string(), v.maxLength(longestRecoveryCode)),
    }),
  ],
  'the body is { "challenge_id" } with a "code" of 6 digits or a "recovery_code"',
)
