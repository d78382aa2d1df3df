/** A login that no longer opens is given its password back by the auth worker, over the binding `AUTH` (contract 5.7). */
import type { Call } from '../call.ts'
import { errorFields } from '../log.ts'
import { openMs, within } from './unavailable.ts'

/** Milliseconds between two attempts of one isolate: a password that is wrong in the binding itself is not worth more. */
const againMs = 10_000

interface LoginRepair {
  repairLogins(): Promise<void>
}

let attemptedAt = Number.NEGATIVE_INFINITY

/** @returns whether the logins were repaired just now, so that connecting is worth another try. */
export async function repairLogins(call: Call): Promise<boolean> {
  const auth = call.env['AUTH'] as LoginRepair | undefined
  if (!auth || Math.abs(Date.now() - attemptedAt) < againMs) return false
  attemptedAt = Date.now()
  try {
    await within(auth.repairLogins(), openMs)
    call.log(
      'warn',
      'a database login did not open: the auth worker restored the password and the settings of the logins',
    )
    return true
  } catch (error) {
    call.log('error', 'a database login does not open, and the auth worker could not repair it', errorFields(error))
    return false
  }
}
