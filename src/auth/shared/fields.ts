/** Schemas of fields that several routes take. */
import * as v from 'valibot'
import { mailAddress } from '../../wire/mail-address.ts'

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
