/** The replay window (contract 7.4), computed on the very value that was signed. */
import { type Refusal, refusal } from './claim.ts'

const windowSeconds = 300

/**
 * @param timestamp Unix time in seconds, as sent.
 * @param now Unix time in seconds.
 * @returns why it is refused: 300 s old, or ahead, passes; 301 does not.
 */
export function refuseTimestamp(timestamp: string, now: number): Refusal | undefined {
  if (!/^[0-9]{1,11}$/.test(timestamp)) return refusal('bad_encoding', 'the timestamp is not a whole number of seconds')
  return refuseTime(Number(timestamp), now)
}

export function refuseTime(time: number, now: number): Refusal | undefined {
  const age = Math.floor(now) - time
  if (age > windowSeconds)
    return refusal('stale_timestamp', `it was signed ${age} s ago, and ${windowSeconds} s are the most`)
  return age < -windowSeconds
    ? refusal('future_timestamp', `it was signed ${-age} s ahead of this clock, and ${windowSeconds} s are the most`)
    : undefined
}

/**
 * Judges the time of a scheme whose signed body carries it.
 * @param milliseconds Unix time in milliseconds, as the body has it.
 */
export function refuseBodyTime(milliseconds: unknown, now: number): Refusal | undefined {
  if (!Number.isSafeInteger(milliseconds)) {
    return refusal('bad_encoding', 'the time of sending in the body is not a whole number of milliseconds')
  }
  return refuseTime(Math.floor((milliseconds as number) / 1000), now)
}
