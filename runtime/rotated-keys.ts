/**
 * Keys that a rotation has put in the place of the bindings CLAIMS_KEY and SERVICE_ROLE_KEY (contract 9.15). An isolate keeps the newest
 * ones that the auth worker has told it, and its bindings serve until then. It may be late: who accepts a key refuses an ended one, and the
 * request asks for the newest key and tries once more.
 */
import type { RotatedKeys } from '../src/wire/secrets.ts'
import type { Call } from './call.ts'
import { type Env, textBinding } from './env.ts'
import { errorFields } from './log.ts'
import type { KeyMethods, RpcMethod } from './table.ts'

/** Milliseconds between two renewals, as of the mirror of the vault. */
const freshMs = 5_000
/** Longest time in milliseconds that a request whose key was refused waits for a newer one. */
const waitMs = 2_000

let rotated: RotatedKeys = {}
let source: ((call: Call) => Promise<void>) | undefined
/** The source is asked by this module. The mirror of the vault renews by itself. */
let isOwn = false
let renewedAt = Number.NEGATIVE_INFINITY

export function keepRotatedKeys(keys: RotatedKeys): void {
  rotated = keys
}

/** @param renew asks for the keys and keeps them. */
export function renewFromMirror(renew: (call: Call) => Promise<void>): void {
  source = renew
}

/** Runs a method of the worker in a transaction of its own. */
export type Perform = (call: Call, method: RpcMethod, values?: readonly unknown[]) => Promise<unknown>

/** Renews from the worker itself, which is the one that has the keys. */
export function renewFrom({ current }: KeyMethods, perform: Perform): void {
  isOwn = true
  let begun = 0
  let answered = 0
  source = async (call) => {
    const number = ++begun
    try {
      const key = (await perform(call, current)) as string | undefined
      if (number < answered) return // stale: a newer read was kept
      answered = number
      keepRotatedKeys({ CLAIMS_KEY: key })
    } catch (error) {
      call.log('warn', 'the newest key of the claims could not be read: the last known serves', errorFields(error))
    }
  }
}

/** @returns the rotated key, else the binding of that name; `undefined` where there is neither. */
export function newestKey(env: Env, name: keyof RotatedKeys): string | undefined {
  return rotated[name] ?? textBinding(env, name)
}

/** Renews keys in the background that are older than 5 s, where no mirror does. Called before a signature. */
export function keepFresh(call: Call): void {
  if (!isOwn || Math.abs(Date.now() - renewedAt) < freshMs) return
  renewedAt = Date.now()
  call.waitUntil(source!(call))
}

/** Called after a key was refused. @returns another key than the refused one, or `undefined` where there is none. */
export async function newerKey(call: Call, name: keyof RotatedKeys, refused: string): Promise<string | undefined> {
  if (newestKey(call.env, name) === refused && source) {
    // its own renewal: one that is under way may have read before the rotation
    const renewal = source(call)
    call.waitUntil(renewal)
    const { promise: timeout, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, waitMs)
    await Promise.race([renewal, timeout])
    clearTimeout(timer)
  }
  const newest = newestKey(call.env, name)
  return newest === refused ? undefined : newest
}
