/** Schemas of the bodies of `passwords/routes.ts`. */
import * as v from 'valibot'
import { code, token } from '../mail/schemas.ts'
import { email } from '../shared/fields.ts'

/** UTF-16 units of the longest password that is read: policies allow 64 characters, and hashing 1 KiB costs no more than 1 byte. */
const longestPassword = 1_024

/** Bytes of JSON that a sign-up may hand to the project's hook (contract 2.14). */
const longestData = 4_096

export const password = v.pipe(v.string(), v.maxLength(longestPassword))

const data = v.pipe(
  v.custom<Record<string, unknown>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'the data must be an object',
  ),
  v.check(
    (value) => new TextEncoder().encode(JSON.stringify(value)).length <= longestData,
    `the data may have ${longestData} bytes of JSON`,
  ),
)

export const credentials = v.strictObject({ email, password })

/** `data` is for the project's hook `public.user_created`. */
export const signUpBody = v.strictObject({ email, password, data: v.optional(data, {}) })

export const passwordChange = v.strictObject({ current_password: password, password })

export const forgotten = v.strictObject({ email })

/** The token of a link, or the code of the same mail with the address that it went to. */
export const resetBody = v.union([v.strictObject({ token, password }), v.strictObject({ email, code, password })])
