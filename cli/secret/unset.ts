/** `stack secret unset <NAME>`: removes an entry of the vault; one that is not there is no error. */
import { manage } from '../management.ts'
import { locateTarget } from '../target.ts'
import { requireName } from './set.ts'

export async function runUnset(flags: { project?: string; env?: string }, name: string): Promise<void> {
  requireName(name)
  await manage(await locateTarget(flags), 'DELETE', `/admin/vault/backend/${name}`)
  process.stderr.write(`  ${name} is not set any more: requests see that within 5 s\n`)
}
