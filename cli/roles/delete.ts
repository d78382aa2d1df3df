/** `stack roles delete <name>`: removes the role from the stack, then from `stack/roles.json`. */
import { roles } from '../../src/wire/operations.ts'
import { type ConfirmFlags, confirm } from '../shared/confirm.ts'
import { pathOf, printAnswer } from '../shared/http-verb.ts'
import { announce, send } from '../shared/management.ts'
import { locateTarget, type TargetFlags } from '../shared/target.ts'
import { writeRoles } from './roles-file.ts'

export type DeleteFlags = TargetFlags & ConfirmFlags

export async function runDelete(flags: DeleteFlags, name: string): Promise<void> {
  const path = pathOf(roles.remove, [name])
  const target = await locateTarget(flags)
  await confirm(`remove the role ${name}`, target, flags)
  announce(target)
  const answer = await send(target, { method: roles.remove.method, path })
  const left = target.roles.filter((role) => role.name !== name)
  if (left.length < target.roles.length) writeRoles(target.root, left, `has no role ${name} any more`)
  await printAnswer(answer)
}
