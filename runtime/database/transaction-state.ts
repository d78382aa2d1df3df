/**
 * The life of a request's transactions. This file alone says which step leads to which state.
 *
 * | state      | what is known                                           | a statement            | COMMIT                       |
 * | ---------- | ------------------------------------------------------- | ---------------------- | ---------------------------- |
 * | `unopened` | No connection was asked for.                            | opens the transaction  | There is nothing to commit.  |
 * | `begun`    | BEGIN was sent. No statement has run.                   | runs after BEGIN       | Rolled back after the answer |
 * | `read`     | Statements ran. None failed, and none wrote.            | runs                   | Sent after the answer        |
 * | `written`  | A statement wrote, failed, or may have written.         | runs                   | Sent before the answer       |
 * | `lost`     | SQL ended the transaction, or the connection is gone.   | is rejected            | `CommitFailed`               |
 * | `ended`    | COMMIT or ROLLBACK was sent.                            | is rejected            | There is nothing to commit.  |
 *
 * Failures:
 * - `begun`: BEGIN fails with `Unavailable`, and so does every statement that waits for it. There is nothing to end then.
 * - `read`: the COMMIT is sent after the answer. The request wrote nothing, so a failure is only logged.
 * - `written`: after a failed statement Postgres refuses further ones (25P02) and answers the COMMIT with ROLLBACK. A
 *   COMMIT whose answer does not arrive is `CommitFailed`: whether Postgres kept the transaction is unknown.
 * - `lost`: nothing is sent any more, because a statement could run outside of the bound transaction.
 */
export type TransactionState = 'unopened' | 'begun' | 'read' | 'written' | 'lost' | 'ended'

/**
 * - `begin`: BEGIN is sent.
 * - `send`: a statement is sent.
 * - `write`: a statement wrote or failed, or it still runs when the transaction ends.
 * - `lose`: a statement ended the transaction, or its outcome is unknown.
 * - `end`: the request ends the transaction.
 */
type Step = 'begin' | 'send' | 'write' | 'lose' | 'end'

const steps: { [From in TransactionState]: { [By in Step]?: TransactionState } } = {
  unopened: { begin: 'begun', end: 'ended' },
  begun: { send: 'read', write: 'written', end: 'ended' },
  read: { write: 'written', lose: 'lost', end: 'ended' },
  written: { lose: 'lost', end: 'ended' },
  lost: { end: 'ended' },
  ended: {},
}

/** @returns the state after a step. A step that a state does not list changes nothing. */
export function stateAfter(state: TransactionState, step: Step): TransactionState {
  return steps[state][step] ?? state
}

/**
 * The phase that both transactions of a request share.
 * - `running`: the handler runs.
 * - `denied`: the handler asked for a statement, and the session of the token was ended. The request answers 401, even if
 *   the handler catches the error (contract 3.5).
 * - `over`: the handler has returned or thrown. Statements that it left behind are rejected.
 */
export interface RequestPhase {
  phase: 'running' | 'denied' | 'over'
  /** A token whose session was ended is no token at all on a public route. */
  readonly isPublic: boolean
}
