/** `stack roles create <name>`: declares the role in the stack, then in `stack/roles.json`, where the build reads it. */
import { roles } from '../../src/wire/operations.ts'
import { type DeclaredRole, InvalidDeclaration, readRole } from '../../src/wire/project.ts'
import { Failure } from '../shared/failure.ts'
import { printAnswer } from '../shared/http-verb.ts'
import { announce, send } from '../shared/management.ts'
import { locateTarget, type TargetFlags } from '../shared/target.ts'
import { writeRoles } from './roles-file.ts'

export interface CreateFlags extends TargetFlags {
  default?: boolean
  permissions?: string
}

export async function runCreate(flags: CreateFlags, name: string): Promise<void> {
  const role = readFlags(flags, name)
  const target = await locateTarget(flags)
  announce(target)
  const answer = await send(target, { ...roles.declare, body: JSON.stringify(role) })
  const others = target.roles.filter((other) => other.name !== name)
  // a stack has one default role, and the new one takes its place there too
  const list = role.default ? others.map((other) => ({ ...other, default: false })) : others
  const at = target.roles.findIndex((other) => other.name === name)
  writeRoles(target.root, list.toSpliced(at === -1 ? list.length : at, 0, role), `has the role ${name}`)
  await printAnswer(answer)
}

function readFlags({ default: isDefault = false, permissions = '' }: CreateFlags, name: string): DeclaredRole {
  const list = permissions.split(',').map((permission) => permission.trim())
  try {
    return readRole({ name, default: isDefault, permissions: list.filter((permission) => permission !== '') })
  } catch (error) {
    if (!(error instanceof InvalidDeclaration)) throw error
    throw new Failure('usage', error.message)
  }
}
