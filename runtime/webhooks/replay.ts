/** The replay window (contract 7.4), computed on the very value that was signed. */

const windowSeconds = 300

/**
 * @param timestamp Unix time in seconds, as sent.
 * @param now Unix time in seconds.
 * @returns why it is refused: 300 s old, or ahead, passes; 301 does not.
 */
export function refuseTimestamp(
  timestamp: string,
  now: number,
): 'bad_encoding' | 'stale_timestamp' | 'future_timestamp' | undefined {
  if (!/^[0-9]{1,11}$/.test(timestamp)) return 'bad_encoding'
  const age = Math.floor(now) - Number(timestamp)
  if (age > windowSeconds) return 'stale_timestamp'
  return age < -windowSeconds ? 'future_timestamp' : undefined
}
