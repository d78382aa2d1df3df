/** Schemas of the bodies of `passkeys/routes.ts`. */

import { label } from '../shared/fields.ts'
import { strictObject } from '../shared/strict-object.ts'
import { challengeId } from '../webauthn/schemas.ts'

export const enrolment = strictObject({ label })
export const waiting = strictObject({ mfa_challenge_id: challengeId })
