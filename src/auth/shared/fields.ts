/** Schemas of fields that several routes take. */
import * as v from 'valibot'
import { mailAddress } from '../../wire/mail-address.ts'

/** A phone number (ITU-T E.164), as the table of users has it. */
export const phoneNumber = /^\+[1-9][0-9]{6,14}$/

export const phone = v.pipe(v.string(), v.regex(phoneNumber, 'a phone number is like +4915112345678'))

/** Bytes of JSON of an object that a client hands over for a hook (contract 2.14) or for tokens (3.8). */
const longestObject = 4_096

/** @param what the object in the messages, like `the data`. */
export const smallObject = (what: string) =>
  v.pipe(
    v.custom<Record<string, unknown>>(
      (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
      `${what} must be an object`,
    ),
    v.check(
      (value) => new TextEncoder().encode(JSON.stringify(value)).length <= longestObject,
      `${what} may have ${longestObject} bytes of JSON`,
    ),
  )

/** An email address, in the form in which it is stored and compared. */
export const email = v.pipe(
  v.string(),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const address = mailAddress(dataset.value)
    if (address !== undefined) return address
    addIssue({ message: 'this is no email address' })
    return NEVER
  }),
)

/** The name that a person gives to a second factor. */
export const label = v.optional(v.pipe(v.string(), v.trim(), v.maxLength(100)), '')
