/** Signs claims as the runtime does (contract 5.3). */
import { createHmac } from 'node:crypto'

/** Unix time in seconds, a minute ahead. */
export const soon = () => Math.ceil(Date.now() / 1000) + 60

export function signatureOf(claims: string, key: string, expiry = soon()): string {
  return `${expiry}.${createHmac('sha256', key).update(`${expiry}.${claims}`).digest('hex')}`
}
