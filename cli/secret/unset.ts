/** `stack secret unset <NAME>`: removes an entry of the vault. A name that is not in the vault is no error. */
import { addressOf } from '../../src/wire/address.ts'
import { vault } from '../../src/wire/operations.ts'
import { nameFormFault, secretNameFault } from '../../src/wire/secrets.ts'
import { Failure } from '../shared/failure.ts'
import { manage } from '../shared/management.ts'
import { locateTarget, type TargetFlags } from '../shared/target.ts'
import { noteBinding } from './set.ts'

export async function runUnset(flags: TargetFlags, name: string): Promise<void> {
  const reason = nameFormFault(name)
  if (reason) throw new Failure('usage', reason)
  const target = await locateTarget(flags)
  await manage(target, { method: vault.remove.method, path: addressOf(vault.remove, { name }) })
  const shown = secretNameFault(name) ? 'the entry' : name // the name may be a secret's value
  process.stderr.write(`  ${shown} is not in the vault any more: requests see that within 5 s\n`)
  noteBinding(target, name)
}
