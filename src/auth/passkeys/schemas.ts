/** Schemas of the bodies of `passkeys/routes.ts`. */
import * as v from 'valibot'
import { label } from '../shared/fields.ts'
import { challengeId } from '../webauthn/schemas.ts'

export const enrolment = v.strictObject({ label })
export const waiting = v.strictObject({ mfa_challenge_id: challengeId })
