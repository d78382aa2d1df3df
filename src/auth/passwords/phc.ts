/** Base64 without padding, as the PHC string format has it. */

export function encode(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replace(/=+$/, '')
}

export function decode(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}

/** In constant time where the lengths are equal. */
export function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && crypto.subtle.timingSafeEqual(one, other)
}
