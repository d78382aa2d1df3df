/** Why requests have no device: one line of the log for each. */
import type { Call } from '../call.ts'

/** Why a request has no device. */
export type Reason =
  | 'missing'
  | 'malformed'
  | 'stale'
  | 'future'
  | 'body_too_large'
  | 'bad_key'
  | 'bad_signature'
  | 'unknown_key'
  | 'wrong_app'
  | 'revoked'
  | 'replayed'

/** Logs why a request has no device. */
export function noDevice(call: Call, reason: Reason): null {
  call.log('info', 'the request has no attested device', { reason })
  return null
}
