/** Schemas of what comes back from a message. */
import * as v from 'valibot'
import { email } from '../shared/fields.ts'
import { strictObject } from '../shared/strict-object.ts'

/** 32 bytes in base64url. */
export const token = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{43}$/, 'this is no token of a link'))

/** Blanks that people type between digits do not count. */
export const code = v.pipe(
  v.string(),
  v.maxLength(32),
  v.transform((text) => text.replaceAll(/[\s-]/g, '')),
  v.regex(/^\d{4,10}$/, 'a code has digits only'),
)

/** The token of a link, or the code of the same message with the address that it went to. */
export const presented = v.union([strictObject({ token }), strictObject({ email, code })])
