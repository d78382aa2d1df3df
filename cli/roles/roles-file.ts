/** `stack/roles.json`, changed together with a stack (contract 1.3). */
import * as fs from 'node:fs'
import path from 'node:path'
import { writeWhole } from '../../build/emit/write.ts'
import type { DeclaredRole } from '../../src/wire/project.ts'
import { projectPaths } from '../../src/wire/project-paths.ts'
import { Failure } from '../shared/failure.ts'

/** The stack has accepted the change when this is called, so a failure says both. @throws Failure where the file is not written. */
export function writeRoles(root: string, roles: readonly DeclaredRole[], stackHas: string): void {
  const file = path.join(root, projectPaths.roles)
  const list = roles.map(({ name, default: isDefault, permissions }) => {
    return { name, ...(isDefault ? { default: true } : {}), permissions }
  })
  try {
    const before = fs.existsSync(file) ? (JSON.parse(fs.readFileSync(file, 'utf8')) as object) : {}
    writeWhole(file, `${JSON.stringify({ ...before, roles: list }, undefined, 2)}\n`)
  } catch (error) {
    throw new Failure('refused', `error: the stack ${stackHas}, but ${(error as Error).message}`)
  }
}
