/** What is made of the table beside the worker: bindings, role names as a type, OpenAPI, and a client. */
import type { DeclaredRole } from '../../src/wire/project.ts'
import type { Linked } from '../link/index.ts'
import type { Program } from '../program.ts'
import { bindingsFile, bindingsText } from './bindings.ts'
import { clientSource, clientTypes } from './client.ts'
import { readJsonSchemas } from './json-schemas.ts'
import { openapiText } from './openapi.ts'
import { roleNames } from './role-names.ts'

export interface DocumentOptions {
  name: string
  roles: readonly DeclaredRole[]
  /** Absolute. */
  root: string
  out: string
  packageRoot: string
  program: Program
  /** The worker has the driver in it. */
  hasDatabase: boolean
}

export async function documents(
  linked: Linked,
  options: DocumentOptions,
): Promise<{ name: string; contents: () => string }[]> {
  const { name, roles, root, out, hasDatabase } = options
  const schemas = await readJsonSchemas(linked, options)
  const bindings = bindingsText(linked.table, hasDatabase, name)
  return [
    ...(bindings === undefined ? [] : [{ name: bindingsFile, contents: () => bindings }]),
    { name: 'roles.d.ts', contents: () => roleNames(roles.map(({ name }) => name)) },
    { name: 'openapi.json', contents: () => openapiText(linked.table, schemas, name) },
    { name: 'client.d.ts', contents: () => clientTypes(linked, root, out) },
    { name: 'client.js', contents: () => clientSource },
  ]
}
