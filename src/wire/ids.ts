/** Identifiers: `<prefix><26-character ULID>`, so that they sort by time and say what they name (contract 6.3). */

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

export type IdPrefix = 'req_' | 'usr_' | 'ses_' | 'dlv_'

/** A new id. @param milliseconds Unix time, the ULID's first ten characters. */
export function newId<P extends IdPrefix>(prefix: P, milliseconds: number = Date.now()): `${P}${string}` {
  let time = ''
  for (let rest = milliseconds, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) time = alphabet[rest % 32] + time
  let random = ''
  for (const byte of crypto.getRandomValues(new Uint8Array(16))) random += alphabet[byte % 32]
  return `${prefix}${time}${random}`
}
