/** Writes what a project's worker needs of its wrangler.toml beside its secrets: bindings and triggers (contract 2.7, 2.12, 5.4). */
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

/** @param project name of the project, so that two projects of one account do not share a limit. @returns `undefined` where nothing is needed. */
export function bindingsText(
  { routes, crons = [] }: RouteTable,
  hasDatabase: boolean,
  project: string,
): string | undefined {
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
  const schedules = [...new Set(crons.map(({ schedule }) => schedule))].sort()
  const triggers = `[triggers]\ncrons = [${schedules.map((schedule) => `"${schedule}"`).join(', ')}]\n`
  const all = [...(hasDatabase ? [pool] : []), ...blocks, ...(schedules.length > 0 ? [triggers] : [])]
  return all.length === 0
    ? undefined
    : `# Written by "stack build": belongs into wrangler.toml, for what this project uses.\n${all.join('\n')}`
}

/** A positive number that is the same at every build. */
function namespaceOf(project: string, binding: string): number {
  return createHash('sha256').update(`${project} ${binding}`).digest().readUInt32BE() % 2_000_000_000
}
