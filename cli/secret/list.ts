/** `stack secret list`: names and times, never values. */
import { manage } from '../shared/management.ts'
import { printJson } from '../shared/output.ts'
import { locateTarget, type TargetFlags } from '../shared/target.ts'

export async function runList(flags: TargetFlags): Promise<void> {
  await printJson(await manage(await locateTarget(flags), 'GET', '/admin/vault/backend'))
}
