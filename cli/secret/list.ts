/** `stack secret list`: names and times, never values. */
import { manage, print } from '../management.ts'
import { locateTarget } from '../target.ts'

export async function runList(flags: { project?: string; env?: string }): Promise<void> {
  print(await manage(await locateTarget(flags), 'GET', '/admin/vault/backend'))
}
