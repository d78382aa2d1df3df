/** Has the auth worker restore the password of a login that no longer opens, over the binding `AUTH` (contract 5.7). */
import type { Call } from '../call.ts'
import { errorFields } from '../log.ts'
import { openMs, within } from './unavailable.ts'

/** Milliseconds between two attempts of one isolate. A repair cannot mend a wrong password in the binding itself, so more attempts would be of no use. */
const againMs = 10_000

interface LoginRepair {
  repairLogins(): Promise<void>
}

let attemptedAt = Number.NEGATIVE_INFINITY

/** @returns whether the logins were repaired just now, so that a second attempt to connect may succeed. */
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
