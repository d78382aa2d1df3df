import type { Bytes } from '../../wire/der.ts'
import { base64url } from '../shared/base64url.ts'

/** @returns `undefined` for all that is not canonical base64url without padding (RFC 4648 section 5). */
export function bytesOf(text: string): Bytes | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return undefined
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0))
  // the last character has bits that no byte holds: only one form of them is taken
  return base64url(bytes.subarray(Math.floor(bytes.length / 3) * 3)) === text.slice(Math.floor(text.length / 4) * 4)
    ? bytes
    : undefined
}
