/** The replay window (contract 7.4), checked on the value that the signature covers. */
import { type Fault, fault } from './claim.ts'

/** Largest difference in seconds between the time of sending and the worker's clock, in both directions (contract 7.4). */
const windowSeconds = 300

/**
 * @param timestamp Unix time in seconds, as sent.
 * @param now Unix time in seconds.
 */
export function timestampFault(timestamp: string, now: number): Fault | undefined {
  if (!/^[0-9]{1,11}$/.test(timestamp)) return fault('bad_encoding', 'the timestamp is not a whole number of seconds')
  return timeFault(Number(timestamp), now)
}

/** @param time Unix time in seconds. @param now Unix time in seconds. */
export function timeFault(time: number, now: number): Fault | undefined {
  const age = Math.floor(now) - time
  if (age > windowSeconds)
    return fault('stale_timestamp', `it was signed ${age} s ago, and ${windowSeconds} s are the most`)
  return age < -windowSeconds
    ? fault('future_timestamp', `it was signed ${-age} s ahead of this clock, and ${windowSeconds} s are the most`)
    : undefined
}

/**
 * Checks the time of sending that stands in a signed body.
 * @param milliseconds the field's value: Unix time in milliseconds.
 * @param now Unix time in seconds.
 */
export function bodyTimeFault(milliseconds: unknown, now: number): Fault | undefined {
  if (!Number.isSafeInteger(milliseconds)) {
    return fault('bad_encoding', 'the time of sending in the body is not a whole number of milliseconds')
  }
  return timeFault(Math.floor((milliseconds as number) / 1000), now)
}
