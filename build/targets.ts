/** The options for building a project, and for building the auth module with the same compiler (contract 1.2, 5.1). */
import * as fs from 'node:fs'
import path from 'node:path'
import type { DeclaredRole, Project } from '../src/wire/project.ts'
import { projectPaths } from '../src/wire/project-paths.ts'
import { authPaths, webhooksPath } from '../src/wire/reserved-paths.ts'
import type { BuildOptions } from './options.ts'

/** Longest request body in bytes, unless a route sets its own: 1 MiB for a project, 64 KiB for the auth module (contract 2.11). */
const maxBodyBytes = { project: 1_048_576, auth: 65_536 }

const webhooks = { path: webhooksPath, owner: 'the webhook receiver' }

/** @param root absolute path of the project. @param roles those of `stack/roles.json`. */
export function projectTarget(
  root: string,
  { project: name, entry, budgetKib }: Pick<Project, 'project' | 'entry' | 'budgetKib'>,
  roles: readonly DeclaredRole[],
  out = path.join(root, projectPaths.generated),
): BuildOptions {
  const owner = 'the auth worker'
  return {
    // The bundler names files by their real paths, and a project may be reached through a symbolic link.
    root: fs.existsSync(root) ? fs.realpathSync(root) : root,
    entry,
    out,
    project: { name, roles },
    budgetKib,
    reserved: [webhooks, ...authPaths.map((path) => ({ path, owner }))],
    databaseRoles: { caller: 'backend_authenticated', service: 'backend_service_role' },
    maxBodyBytes: maxBodyBytes.project,
  }
}

/**
 * @param out absolute.
 * @param hasDebugDevices adds the routes that enrol debug devices. They exist in no other bundle: a key of theirs proves nothing about a
 * device.
 */
export function authTarget(out: string, hasDebugDevices = false): BuildOptions {
  return {
    ...(hasDebugDevices
      ? { root: path.resolve(import.meta.dirname, '../src'), entry: 'auth-debug/module.ts' }
      : { root: path.resolve(import.meta.dirname, '../src/auth'), entry: 'module.ts' }),
    out,
    reserved: [webhooks],
    administered: ['/v1/management', '/admin'],
    databaseRoles: { caller: 'backend_authenticated', service: 'auth_admin' },
    maxBodyBytes: maxBodyBytes.auth,
    nodeModules: ['crypto'], // bcryptjs
    rpc: [
      { class: 'VaultMirror', method: 'mirrorSecrets' },
      { class: 'LoginRepair', method: 'repairLogins' },
    ],
    keys: {
      accepts: { class: 'ServiceRoleKeys', method: 'accepts' },
      current: { class: 'ClaimsKeys', method: 'current' },
    },
  }
}
