/** Identifiers: `<prefix><26-character ULID>`, so that they sort by time and say what they name (contract 6.3). */

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

export type IdPrefix = 'req_' | 'usr_' | 'ses_' | 'dlv_'

/** Asking for random bytes costs more than using them. */
const pool = new Uint8Array(2048)
let used = pool.length
let last = { milliseconds: -1, text: '' }

/** A new id. @param milliseconds Unix time, the ULID's first ten characters. */
export function newId<P extends IdPrefix>(prefix: P, milliseconds: number = Date.now()): `${P}${string}` {
  if (last.milliseconds !== milliseconds) last = { milliseconds, text: timeText(milliseconds) }
  if (used === pool.length) {
    crypto.getRandomValues(pool)
    used = 0
  }
  let random = ''
  for (const end = used + 16; used < end; used++) random += alphabet[pool[used]! % 32]
  return `${prefix}${last.text}${random}`
}

function timeText(milliseconds: number): string {
  let time = ''
  for (let rest = milliseconds, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) time = alphabet[rest % 32] + time
  return time
}
