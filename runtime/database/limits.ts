/** The time limits of a transaction (contract 5.6, 5.7). */
import { type Env, textBinding } from '../env.ts'
import { Unavailable } from './unavailable.ts'

export interface TransactionLimits {
  /** Milliseconds that a transaction may lie idle between two statements. */
  idleMs: number
  /** Milliseconds that a transaction may last in all. */
  transactionMs: number
}

/** The limits that contract 5.7 promises. A handler that waits longer does so before its first query or after its last. */
const defaults: TransactionLimits = { idleMs: 10_000, transactionMs: 30_000 }

/** Largest limit in milliseconds that a binding may set: ten minutes. A lost connection stays in the pool for as long as the limit. */
const largestMs = 600_000

/** @throws Unavailable when a binding is not a whole number of milliseconds, 1 to 600,000. */
export function limitsOf(env: Env): TransactionLimits {
  return {
    idleMs: milliseconds(env, 'STACK_IDLE_MS', defaults.idleMs),
    transactionMs: milliseconds(env, 'STACK_TRANSACTION_MS', defaults.transactionMs),
  }
}

function milliseconds(env: Env, name: string, otherwise: number): number {
  const text = textBinding(env, name)
  if (text === undefined) return otherwise
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1 && value <= largestMs) return value
  throw new Unavailable(`${name} must be a whole number of milliseconds, 1 to ${largestMs}`)
}
