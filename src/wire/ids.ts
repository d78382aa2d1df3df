/** Ids are a prefix that says what they name, then a ULID of 26 characters, so that ids sort by time (contract 6.3). */

/** Crockford's base 32, which the ULID specification demands. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** A request, a user, a login session, a webhook delivery, an entry of the audit trail, a second factor, a message, a key of the claims, a device. */
export type IdPrefix = 'req_' | 'usr_' | 'ses_' | 'dlv_' | 'aud_' | 'fac_' | 'msg_' | 'clk_' | 'dev_'

/**
 * The form of a user's id. It is wider than the ids that are made here, because another issuer may name users in its own
 * way. The check constraint of `auth.users` is the same pattern.
 */
export const userId = /^usr_[A-Za-z0-9_-]{1,64}$/

/** 2,048 random bytes, enough for 128 ids: one call of `getRandomValues` for each id would cost more than the id. */
const pool = new Uint8Array(2048)
let used = pool.length
let last = { milliseconds: -1, text: '' }

/** Makes a new id. @param milliseconds Unix time, which becomes the first ten characters of the ULID. */
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

/** The lowest id of a moment: ids of earlier moments sort before it. @param milliseconds Unix time, from 0 to 2^48 - 1. */
export function firstId<P extends IdPrefix>(prefix: P, milliseconds: number): `${P}${string}` {
  return `${prefix}${timeText(milliseconds)}${alphabet[0]!.repeat(16)}`
}

function timeText(milliseconds: number): string {
  let time = ''
  for (let rest = milliseconds, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) time = alphabet[rest % 32] + time
  return time
}
