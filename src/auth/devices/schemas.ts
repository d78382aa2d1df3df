/** Schemas of the bodies of `devices/routes.ts`. */
import * as v from 'valibot'
import type { Bytes } from '../../wire/der.ts'
import { isApplicationKey } from '../../wire/device-apps.ts'
import { strictObject } from '../shared/strict-object.ts'
import { bytesOf } from './bytes.ts'

/** @param most largest number of bytes. */
export const binary = (most: number) =>
  v.pipe(
    v.string(),
    v.maxLength(Math.ceil((most * 4) / 3), `it may have ${most} bytes`),
    v.rawTransform(({ dataset, addIssue, NEVER }): Bytes => {
      const bytes = bytesOf(dataset.value)
      if (bytes && bytes.length > 0) return bytes
      addIssue({ message: 'this is not base64url without padding' })
      return NEVER
    }),
  )

export const applicationKey = v.pipe(
  v.string(),
  v.check(
    (value: string) => isApplicationKey(value),
    'an application key has 1 to 63 letters, digits, dots, dashes and underscores',
  ),
)

export const challengeRequest = strictObject({
  platform: v.picklist(['ios', 'android', 'web'], 'a platform is "ios", "android" or "web"'),
  application_key: applicationKey,
})

/** Bytes of a challenge. */
export const challenge = binary(128)
/** Bytes of an attestation of App Attest, which has about 5,600. */
export const attestation = binary(16_384)
/** A chain of Android, the leaf first. */
export const certificates = v.pipe(
  v.array(binary(8_192)),
  v.minLength(2, 'a chain has 2 to 8 certificates'),
  v.maxLength(8, 'a chain has 2 to 8 certificates'),
)

export const enrolment = v.pipe(
  strictObject({
    application_key: applicationKey,
    challenge,
    attestation: v.optional(attestation),
    certificates: v.optional(certificates),
  }),
  v.check(
    (one) => (one.attestation === undefined) !== (one.certificates === undefined),
    'give an attestation of iOS, or the certificates of Android',
  ),
)
