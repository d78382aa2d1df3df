/** Schemas of the bodies of `mfa/routes.ts`. */
import * as v from 'valibot'
import { label } from '../shared/fields.ts'
import { strictObject } from '../shared/strict-object.ts'
import { assertion } from '../webauthn/schemas.ts'

const code = v.pipe(v.string(), v.trim(), v.regex(/^\d{6}$/, 'a code has 6 digits'))
const challenge_id = v.pipe(v.string(), v.maxLength(80))
/** Largest number of characters of a recovery code, with the dashes or blanks between its parts. */
const longestRecoveryCode = 40

export const enrolment = strictObject({ label })
export const verification = strictObject({ factor_id: v.pipe(v.string(), v.maxLength(80)), code })

export const stepUp = v.union(
  [strictObject({ code }), strictObject({ passkey: assertion })],
  'the body is { "code" } with 6 digits, or { "passkey": { "challenge_id", "response" } }',
)

export const answer = v.union(
  [
    strictObject({ challenge_id, code }),
    strictObject({ challenge_id, recovery_code: v.pipe(v.string(), v.maxLength(longestRecoveryCode)) }),
    strictObject({ challenge_id, passkey: assertion }),
  ],
  'the body is { "challenge_id" } with a "code" of 6 digits, a "recovery_code", or a "passkey" of { "challenge_id", "response" }',
)

/** One proof of a second factor. */
export type Proof = v.InferOutput<typeof stepUp> | { recovery_code: string }
