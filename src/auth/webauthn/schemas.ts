/** Schemas of what a browser's `PublicKeyCredential.toJSON()` gives. Members that are not checked here are dropped: browsers add some. */
import * as v from 'valibot'
import { strictObject } from '../shared/strict-object.ts'

/** @param longest number of characters. */
const base64url = (longest: number) =>
  v.pipe(v.string(), v.maxLength(longest), v.regex(/^[A-Za-z0-9_-]+$/, 'this is not base64url'))

/** Characters of the longest credential id: WebAuthn allows 1,023 bytes. */
const longestId = 1_364
/** Characters of client data: a challenge, an origin and a few flags. */
const longestClientData = 4_096
/** Characters of a signature or authenticator data, which are some hundred bytes long. */
const longestAssertion = 4_096
/** Characters of an attestation object without certificates, which is at most 2 KiB long. */
const longestAttestation = 8_192

export const challengeId = v.pipe(v.string(), v.maxLength(80))

const credential = { id: base64url(longestId), rawId: base64url(longestId), type: v.literal('public-key') }

export const assertion = strictObject({
  challenge_id: challengeId,
  response: v.object({
    ...credential,
    response: v.object({
      clientDataJSON: base64url(longestClientData),
      authenticatorData: base64url(longestAssertion),
      signature: base64url(longestAssertion),
      userHandle: v.nullish(base64url(100)),
    }),
  }),
})

export type Assertion = v.InferOutput<typeof assertion>

export const registration = strictObject({
  challenge_id: challengeId,
  response: v.object({
    ...credential,
    response: v.object({
      clientDataJSON: base64url(longestClientData),
      attestationObject: base64url(longestAttestation),
      transports: v.nullish(v.pipe(v.array(v.pipe(v.string(), v.regex(/^[a-z-]{1,32}$/))), v.maxLength(10))),
    }),
  }),
})

export type RegistrationBody = v.InferOutput<typeof registration>
