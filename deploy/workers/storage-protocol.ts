/** How the bucket of a served stack speaks to what keeps its objects: HTTP, with the properties of an object in one header. */
import type { StoredObject } from '../../src/sdk/storage.ts'

/** An object's properties as JSON, percent-encoded, in answers. */
export const objectHeader = 'x-stored-object'
/** The metadata that `put` was given, in the same form. */
export const metadataHeader = 'x-stored-metadata'

/** The properties in JSON. */
export type ObjectJson = Omit<StoredObject, 'uploaded'> & { uploaded: string }

export type Metadata = Pick<StoredObject, 'httpMetadata' | 'customMetadata'>

/** Answer of `GET /list`. */
export interface ListJson {
  objects: ObjectJson[]
  truncated: boolean
  cursor?: string
}

/** Longest key, in bytes of UTF-8, as R2 has it. */
const longestKey = 1024
/** Largest metadata of one object, in bytes of JSON: S3 admits 2 KiB in headers. */
export const largestMetadata = 1_400
/** Largest number of objects in one list, as R2 has it. */
export const longestList = 1_000

/** @returns why the text can be no key, or `undefined`. */
export function keyFault(key: unknown): string | undefined {
  if (typeof key !== 'string' || key === '') return 'a key must be a text that is not empty'
  if (new TextEncoder().encode(key).length > longestKey) return `a key has ${longestKey} bytes at most`
  if (!key.isWellFormed() || /\p{Cc}/u.test(key)) return 'a key must not hold control characters'
  return key.split('/').some((part) => part === '.' || part === '..')
    ? 'a key must not hold the segments . and ..'
    : undefined
}
