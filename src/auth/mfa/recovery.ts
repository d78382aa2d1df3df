import { authenticate } from '../shared/seal.ts'

/** Number of recovery codes that a user gets: what most services give. */
const codes = 10
/** Letters and digits that people do not take for each other (Crockford's base32, in lower case). */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** Ten codes of 80 random bits each, like `x4rk-2p9d-m0vq-7tbz`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: codes }, () => {
    const letters = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => alphabet[byte % 32])
    return [0, 4, 8, 12].map((start) => letters.slice(start, start + 4).join('')).join('-')
  })
}

/** The code as it is stored. The key is a binding, so a dump of the table opens no account. Dashes, blanks and case do not count. */
export async function digestOf(userId: string, code: string): Promise<string> {
  const plain = code.toLowerCase().replaceAll(/[\s-]/g, '')
  const bytes = await authenticate('PASSWORD_PEPPER', new TextEncoder().encode(`recovery code ${userId} ${plain}`))
  return btoa(String.fromCharCode(...bytes))
}
