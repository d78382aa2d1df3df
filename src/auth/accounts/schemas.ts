/** Schemas of the bodies of `accounts/routes.ts`. */
import * as v from 'valibot'
import { importFault } from '../passwords/imported.ts'
import { password, signUpData } from '../passwords/schemas.ts'
import { email, phone, smallObject } from '../shared/fields.ts'
import { strictObject } from '../shared/strict-object.ts'

/** Characters of the longest hash that can be imported: the salt and the hash of argon2id have 64 bytes each at most. */
const longestHash = 300

/** The hash itself is repeated in no answer. */
const passwordHash = v.pipe(
  v.string(),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    const fault = dataset.value.length > longestHash ? 'this hash is too long' : importFault(dataset.value)
    if (fault) addIssue({ message: fault })
  }),
)

/** Bytes of JSON of a user's claims: each access token carries them (contract 3.8). */
const customClaims = smallObject('the claims')

export const newAccount = v.pipe(
  strictObject({
    email: v.optional(email),
    phone: v.optional(phone),
    password: v.optional(password),
    password_hash: v.optional(passwordHash),
    email_confirmed: v.optional(v.boolean(), false),
    phone_confirmed: v.optional(v.boolean(), false),
    data: v.optional(signUpData, {}),
    custom_claims: v.optional(customClaims, {}),
  }),
  v.check((one) => one.email !== undefined || one.phone !== undefined, 'a user has an email address or a phone number'),
  v.check((one) => one.password === undefined || one.password_hash === undefined, 'give a password or a hash of one'),
  v.check((one) => !one.email_confirmed || one.email !== undefined, 'there is no address that could be confirmed'),
  v.check((one) => !one.phone_confirmed || one.phone !== undefined, 'there is no phone number that could be confirmed'),
)

export type NewAccount = v.InferOutput<typeof newAccount>

export const accountChange = strictObject({
  disabled: v.optional(v.boolean()),
  email: v.optional(v.nullable(email)),
  email_confirmed: v.optional(v.boolean()),
  phone: v.optional(v.nullable(phone)),
  phone_confirmed: v.optional(v.boolean()),
  custom_claims: v.optional(customClaims),
})

export type AccountChange = v.InferOutput<typeof accountChange>

/** `mode` is there for callers that name it: mail is the only way, because no answer holds a password or a link. */
export const passwordReset = strictObject({
  mode: v.optional(v.literal('email', 'the mode is "email"'), 'email'),
  revoke_sessions: v.optional(v.boolean(), true),
})
