/** Where a message goes: an email address, or a phone number. */
import { mailAddress } from '../../wire/mail-address.ts'
import type { Channel } from '../../wire/templates.ts'
import { invalidRequest } from '../shared/errors.ts'
import { phoneNumber } from '../shared/fields.ts'

/** @returns the address or number in its stored form. @throws HttpError 400 `invalid_request` */
export function requireRecipient(to: string, channel: Channel): string {
  const recipient = channel === 'email' ? mailAddress(to) : phoneNumber.test(to) ? to : undefined
  if (recipient !== undefined) return recipient
  const reason = 'a mail goes to an email address, and a text message to a number like +4915112345678'
  throw invalidRequest('to', reason)
}
