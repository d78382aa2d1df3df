/** Schemas of the bodies of `passwords/routes.ts`. */
import * as v from 'valibot'
import { code, token } from '../mail/schemas.ts'
import { email, smallObject } from '../shared/fields.ts'
import { strictObject } from '../shared/strict-object.ts'

/** UTF-16 units of the longest password that is read: policies allow 64 characters, and hashing 1 KiB costs no more than 1 byte. */
const longestPassword = 1_024

export const password = v.pipe(v.string(), v.maxLength(longestPassword))

/** The object that a sign-up may hand to the project's hook (contract 2.14). */
export const signUpData = smallObject('the data')

export const credentials = strictObject({ email, password })

/** `data` is for the project's hook `public.user_created`. */
export const signUpBody = strictObject({ email, password, data: v.optional(signUpData, {}) })

export const passwordChange = strictObject({ current_password: password, password })

export const forgotten = strictObject({ email })

/** The token of a link, or the code of the same mail with the address that it went to. */
export const resetBody = v.union([strictObject({ token, password }), strictObject({ email, code, password })])
