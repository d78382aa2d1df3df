/** A person in the form in which the stack keeps them, made of what the provider says. */

import { mailAddress } from '../../wire/mail-address.ts'
import type { OAuthProvider } from '../../wire/providers.ts'
import type { Person, Profile } from '../identities/rows.ts'
import { AnswerRefused } from './provider-fetch.ts'

/** Characters of a name that are kept. */
const longestName = 200
/** Characters of a picture's address that are kept. */
const longestPicture = 2_000

/** @throws AnswerRefused for a subject that no provider gives out. */
export function personOf(
  provider: OAuthProvider,
  subject: unknown,
  email: { address: unknown; isVerified: boolean },
  profile: Record<keyof Profile, unknown>,
): Person & { provider: OAuthProvider } {
  if (typeof subject !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(subject)) {
    throw new AnswerRefused('the subject is not 1 to 255 characters of ASCII')
  }
  const address = (typeof email.address === 'string' && mailAddress(email.address)) || null
  return {
    provider,
    subject,
    email: address,
    email_verified: address !== null && email.isVerified,
    profile: profileOf(profile),
  }
}

export function profileOf({ picture, ...names }: Record<keyof Profile, unknown>): Profile {
  const kept: Profile = {}
  for (const [key, value] of Object.entries(names) as [keyof Profile, unknown][]) {
    if (typeof value !== 'string') continue
    // control characters and halves of surrogate pairs: Postgres cannot hold all of them, and no name has one
    const text = value
      .slice(0, longestName)
      .toWellFormed()
      .replaceAll(/\p{Cc}/gu, '')
      .trim()
    if (text) kept[key] = text
  }
  if (typeof picture === 'string' && picture.length <= longestPicture && URL.parse(picture)?.protocol === 'https:') {
    kept.picture = new URL(picture).href
  }
  return kept
}

/** Whether the claims of an ID token say that the person controls the address. Any other value than these is no. */
export function isVerified(provider: OAuthProvider, claims: Record<string, unknown>): boolean {
  const claim = claims['email_verified']
  switch (provider) {
    case 'apple': // "a string or Boolean value", says its documentation
      return claim === true || claim === 'true'
    case 'microsoft': {
      // an administrator of a directory writes any address into `email`: only these claims tell that its domain's owner agreed
      const isOwned = claims['xms_edov']
      return claim === true || isOwned === true || isOwned === 1 || isOwned === '1'
    }
    default:
      return claim === true
  }
}
