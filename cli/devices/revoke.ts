/** `stack devices revoke <dev_id>`: one call, which is repeated without harm. */
import { addressOf } from '../../src/wire/address.ts'
import { devices } from '../../src/wire/operations.ts'
import { manage } from '../shared/management.ts'
import { printJson } from '../shared/output.ts'
import { locateTarget, type TargetFlags } from '../shared/target.ts'

export async function runRevoke(flags: TargetFlags, id: string): Promise<void> {
  const { method } = devices.revoke
  await printJson(await manage(await locateTarget(flags), { method, path: addressOf(devices.revoke, { id }) }))
}
