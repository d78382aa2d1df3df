/** What is made of the table beside the worker: role names as a type, OpenAPI, and a client. */
import type { Linked } from '../link/index.ts'
import type { Program } from '../program.ts'
import { clientSource, clientTypes } from './client.ts'
import { readJsonSchemas } from './json-schemas.ts'
import { openapiText } from './openapi.ts'
import { rateLimitsText } from './rate-limits.ts'
import { roleNames } from './role-names.ts'

export interface DocumentOptions {
  name: string
  roles: readonly string[]
  /** Absolute. */
  root: string
  out: string
  packageRoot: string
  program: Program
}

export async function documents(
  linked: Linked,
  options: DocumentOptions,
): Promise<{ name: string; contents: () => string }[]> {
  const { name, roles, root, out } = options
  const schemas = await readJsonSchemas(linked, options)
  const limits = rateLimitsText(linked.table, name)
  return [
    ...(limits === undefined ? [] : [{ name: 'ratelimits.toml', contents: () => limits }]),
    { name: 'roles.d.ts', contents: () => roleNames(roles) },
    { name: 'openapi.json', contents: () => openapiText(linked.table, schemas, name) },
    { name: 'client.d.ts', contents: () => clientTypes(linked, root, out) },
    { name: 'client.js', contents: () => clientSource },
  ]
}
