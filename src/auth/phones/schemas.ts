/** Schemas of the bodies of `phones/`. */
import * as v from 'valibot'
import { code } from '../mail/schemas.ts'
import { signUpData } from '../passwords/schemas.ts'
import { phone } from '../shared/fields.ts'
import { strictObject } from '../shared/strict-object.ts'

/** Characters of a number as people write it: 16 of the number, and what stands between its digits. */
const longestTyped = 40

/**
 * Blanks, dashes and parentheses between the digits do not count. In `+49 (0)30` the parentheses enclose a digit that is not dialled
 * from abroad, so such a number is refused: without them it would be another person's.
 */
const typedPhone = v.pipe(
  v.string(),
  v.maxLength(longestTyped),
  v.check((text) => !/\(\s*0\s*\)/.test(text), 'leave out the (0) of the phone number'),
  v.transform((text) => text.replaceAll(/[ ()-]/g, '')),
  phone,
)

export const phoneBody = strictObject({ phone: typedPhone })

export const confirmation = strictObject({ phone: typedPhone, code })

/** `data` is for the project's hook `public.user_created`, where the number is new. */
export const verification = strictObject({ phone: typedPhone, code, data: v.optional(signUpData, {}) })
