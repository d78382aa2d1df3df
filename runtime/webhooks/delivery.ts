/** One delivery, from its arrival to its record. */
import type { Call } from '../call.ts'
import type { RequestDatabase } from '../database/transaction.ts'
import type { Webhook } from '../table.ts'

/** Runs work in a request's scope and transactions, without a user. @param isReadOnly of the caller's transaction. */
export type Run = (
  call: Call,
  isReadOnly: boolean,
  work: (database: RequestDatabase) => Promise<Response>,
) => Promise<Response>

/** Starts as `refused`, and each later step of the delivery overwrites it. The recorder stores it after the answer. */
export interface Outcome {
  outcome: 'handled' | 'unhandled' | 'duplicate' | 'handshake' | 'failed' | 'refused'
  reason?: string
  event?: string
  /** Absent until the signature was verified. */
  body?: Uint8Array<ArrayBuffer>
}

/** A webhook that the worker serves. */
export interface Mounted {
  webhook: Webhook
  /** The method for each event key. */
  handlers: ReadonlyMap<string, string>
}

export interface Delivery extends Mounted {
  call: Call
  /** Time of the arrival, in Unix milliseconds. */
  began: number
  outcome: Outcome
  /** Reads the body. It counts as in flight until the delivery has ended. @throws HttpError 413, 408, 503 */
  hold(most: number | undefined): Promise<Uint8Array<ArrayBuffer>>
  /** Verifies a delivery that was refused for its time alone, and sets the outcome's body if it was genuine. */
  verifyLate?: () => Promise<void>
}

/** Longest text of a sender, in characters, that a line of the log shows. */
export const loggedLength = 200

/** A sender's text for a line of the log: in quotes, and no longer than `loggedLength`. */
export function quoted(text: string): string {
  return JSON.stringify(text.slice(0, loggedLength))
}
