/** Writes the bindings that a project's worker needs beside its secrets, for its wrangler.toml (contract 2.7, 5.4). */
import { createHash } from 'node:crypto'
import type { RouteTable } from '../../runtime/table.ts'

export const bindingsFile = 'bindings.toml'

/** wrangler demands a migration for a new class of Durable Objects. This class stores no data. */
const pool = `[[durable_objects.bindings]]
name = "STACK_POOL"
class_name = "StackPool"

[[migrations]]
tag = "stack-pool"
new_sqlite_classes = ["StackPool"]
`

/** @param project name of the project, so that two projects of one account do not share a limit. @returns `undefined` where no binding is needed. */
export function bindingsText({ routes }: RouteTable, hasDatabase: boolean, project: string): string | undefined {
  const limits = new Map(routes.flatMap(({ limit }) => (limit ? [[limit.binding, limit] as const] : [])))
  const blocks = [...limits.values()]
    .sort((a, b) => (a.binding < b.binding ? -1 : 1))
    .map(
      ({ binding, requests, seconds }) => `[[ratelimits]]
name = "${binding}"
namespace_id = "${namespaceOf(project, binding)}"
simple = { limit = ${requests}, period = ${seconds} }
`,
    )
  const all = hasDatabase ? [pool, ...blocks] : blocks
  return all.length === 0
    ? undefined
    : `# Written by "stack build": belongs into wrangler.toml, for what this project uses.\n${all.join('\n')}`
}

/** A positive number that is the same at every build. */
function namespaceOf(project: string, binding: string): number {
  return createHash('sha256').update(`${project} ${binding}`).digest().readUInt32BE() % 2_000_000_000
}
