/**
 * Mirrors the environment's secrets from the vault by RPC over `AUTH` into `env` and `process.env` (contract 9.9), and the keys that
 * were rotated. A secret never replaces a binding. Requests share a refresh. It yields plain data, and the request that began it keeps it alive.
 * Each waiting request has a timer of its own.
 */
import type { MirroredSecrets } from '../src/wire/secrets.ts'
import type { Call } from './call.ts'
import type { Env } from './env.ts'
import { errorFields } from './log.ts'
import { keepRotatedKeys, renewFromMirror } from './rotated-keys.ts'

/** Largest age of the mirror in milliseconds: a changed secret takes effect within it. */
const freshMs = 5_000
/** Milliseconds between two attempts while no mirror is there: requests would otherwise fail for longer than the outage. */
const emptyMs = 1_000
/** Longest time in milliseconds that a request waits for a refresh. Then the last known secrets serve. */
const waitMs = 1_000

interface Vault {
  mirrorSecrets(known: string | null): Promise<MirroredSecrets | null>
}

/** @returns a promise only while a refresh runs. */
export type Mirror = (call: Call) => Promise<void> | undefined

export function createMirror(): Mirror {
  let revision: string | null = null
  /** Names that came from the vault. */
  let mirrored = new Set<string>()
  let attemptedAt = Number.NEGATIVE_INFINITY
  /** Number of refreshes that were begun. */
  let begun = 0
  /** Number of the newest refresh that was answered. */
  let answered = 0
  let refreshing: Promise<void> | undefined

  function apply(env: Env, entries: Record<string, string>): void {
    const targets = [env, (globalThis as { process?: { env: Env } }).process?.env ?? {}]
    for (const target of targets) {
      for (const name of mirrored) if (!Object.hasOwn(entries, name)) delete target[name]
    }
    const applied = new Set<string>()
    for (const [name, value] of Object.entries(entries)) {
      if (!mirrored.has(name) && Object.hasOwn(env, name)) continue // the name is a binding
      applied.add(name)
      for (const target of targets) target[name] = value
    }
    mirrored = applied
  }

  async function refresh(call: Call, vault: Vault): Promise<void> {
    const number = ++begun
    try {
      const secrets = await vault.mirrorSecrets(revision)
      if (number < answered) return // stale: a newer refresh was applied
      answered = number
      if (!secrets) return
      apply(call.env, secrets.entries)
      keepRotatedKeys(secrets.keys ?? {})
      revision = secrets.revision
    } catch (error) {
      call.log('warn', 'the secrets of the vault could not be mirrored: the last known serve', errorFields(error))
    }
  }

  renewFromMirror(async (call) => {
    const vault = call.env['AUTH'] as Vault | undefined
    if (vault) await refresh(call, vault)
  })
  return (call) => {
    const vault = call.env['AUTH'] as Vault | undefined
    if (!vault) return undefined
    // the Workers runtime may have cancelled the owner of the last refresh: then this one takes its place
    if (Math.abs(Date.now() - attemptedAt) >= (revision === null ? emptyMs : freshMs)) {
      attemptedAt = Date.now()
      const mine = refresh(call, vault).finally(() => {
        if (refreshing === mine) refreshing = undefined
      })
      refreshing = mine
      call.waitUntil(mine)
    }
    return refreshing && waitFor(refreshing)
  }
}

async function waitFor(refreshing: Promise<void>): Promise<void> {
  const { promise: timeout, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, waitMs)
  await Promise.race([refreshing, timeout])
  clearTimeout(timer)
}
