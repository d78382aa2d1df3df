/** Schemas of the queries and bodies of this folder's routes. */
import * as v from 'valibot'
import { strictObject } from '../shared/strict-object.ts'

const clientKey = v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'this is no key of a client'))
/** Characters of an address that an application is sent back to. The table takes no more. */
const longestRedirect = 2_000
/** Characters of an ID token: providers send a few thousand, and the body of a request has 64 KiB. */
const longestIdToken = 16_384

/** Where an application is sent back to, and its PKCE, which is not optional: the hand-off code is worth nothing without the verifier. */
export const returning = {
  redirect_to: v.pipe(v.string(), v.maxLength(longestRedirect)),
  code_challenge: v.pipe(
    v.string(),
    v.regex(/^[A-Za-z0-9_-]{43}$/, 'an S256 challenge has 43 characters of base64url'),
  ),
  code_challenge_method: v.literal('S256'),
}

export const startQuery = strictObject({ client_key: clientKey, ...returning })
export const linkBody = strictObject({ client_key: clientKey, ...returning })

export const exchangeBody = strictObject({
  code: v.pipe(v.string(), v.maxLength(100)),
  code_verifier: v.pipe(
    v.string(),
    v.regex(/^[A-Za-z0-9._~-]{43,128}$/, 'a verifier has 43 to 128 characters (RFC 7636)'),
  ),
})

export const nativeBody = strictObject({
  client_key: clientKey,
  id_token: v.pipe(v.string(), v.maxLength(longestIdToken)),
  /** The nonce that the application made. The provider may have been given its SHA-256. */
  nonce: v.pipe(v.string(), v.minLength(8), v.maxLength(512)),
  /** Where it is given, the ID token must be of the same sign-in (`at_hash`). */
  access_token: v.optional(v.pipe(v.string(), v.maxLength(longestIdToken))),
})
