/**
 * The environment's secrets, mirrored from the vault by RPC over `AUTH` into `env` and `process.env` (contract 9.9): what
 * is a binding stays one. Requests share a refresh, which yields plain data and is kept alive by the one that began it;
 * each waiter has a timer of its own.
 */
import type { MirroredSecrets } from '../src/wire/secrets.ts'
import type { Call, Env } from './call.ts'
import { errorFields } from './log.ts'

/** How old the mirror may be. */
const freshMs = 5_000
/** How soon one that was never there is asked for again. */
const emptyMs = 1_000
/** How long a request waits for a newer one. */
const patienceMs = 1_000

interface Vault {
  mirrorSecrets(known: string | null): Promise<MirroredSecrets | null>
}

/** @returns a promise only where there is something to wait for. */
export type Mirror = (call: Call) => Promise<void> | undefined

export function createMirror(): Mirror {
  let revision: string | null = null
  /** Names that came from the vault. */
  let mirrored = new Set<string>()
  let attemptedAt = Number.NEGATIVE_INFINITY
  /** Refreshes that were begun, and the one whose answer holds. */
  let begun = 0
  let heard = 0
  let refreshing: Promise<void> | undefined

  function apply(env: Env, entries: Record<string, string>): void {
    const targets = [env, (globalThis as { process?: { env: Env } }).process?.env ?? {}]
    for (const target of targets) {
      for (const name of mirrored) if (!Object.hasOwn(entries, name)) delete target[name]
    }
    const taken = new Set<string>()
    for (const [name, value] of Object.entries(entries)) {
      if (!mirrored.has(name) && Object.hasOwn(env, name)) continue // a binding
      taken.add(name)
      for (const target of targets) target[name] = value
    }
    mirrored = taken
  }

  async function refresh(call: Call, vault: Vault): Promise<void> {
    const number = ++begun
    try {
      const told = await vault.mirrorSecrets(revision)
      if (number < heard) return // later than the answer to a question that was asked after it
      heard = number
      if (!told) return
      apply(call.env, told.entries)
      revision = told.revision
    } catch (error) {
      call.log('warn', 'the secrets of the vault could not be mirrored: the last known serve', errorFields(error))
    }
  }

  return (call) => {
    const vault = call.env['AUTH'] as Vault | undefined
    if (!vault) return undefined
    // a refresh whose owner was cancelled is forgotten by the next window
    if (Math.abs(Date.now() - attemptedAt) >= (revision === null ? emptyMs : freshMs)) {
      attemptedAt = Date.now()
      const mine = refresh(call, vault).finally(() => {
        if (refreshing === mine) refreshing = undefined
      })
      refreshing = mine
      call.waitUntil(mine)
    }
    return refreshing && patiently(refreshing)
  }
}

async function patiently(refreshing: Promise<void>): Promise<void> {
  const { promise: patience, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, patienceMs)
  await Promise.race([refreshing, patience])
  clearTimeout(timer)
}
