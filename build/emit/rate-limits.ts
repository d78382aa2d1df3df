/** The configuration of the rate limits that routes declare, as it goes into a wrangler.toml (contract 2.7). */
import { createHash } from 'node:crypto'
import type { RouteTable } from '../../runtime/table.ts'

/** @returns `undefined` where no route has a limit. @param project its name: projects of one account count apart. */
export function rateLimitsText({ routes }: RouteTable, project: string): string | undefined {
  const limits = new Map(routes.flatMap(({ limit }) => (limit ? [[limit.binding, limit] as const] : [])))
  if (limits.size === 0) return undefined
  const blocks = [...limits.values()]
    .sort((a, b) => (a.binding < b.binding ? -1 : 1))
    .map(
      ({ binding, requests, seconds }) => `[[ratelimits]]
name = "${binding}"
namespace_id = "${namespaceOf(project, binding)}"
simple = { limit = ${requests}, period = ${seconds} }
`,
    )
  return `# Written by "stack build": belongs into wrangler.toml, for the limits of this project's routes.\n${blocks.join('\n')}`
}

/** A positive number, the same at every build. */
function namespaceOf(project: string, binding: string): number {
  return createHash('sha256').update(`${project} ${binding}`).digest().readUInt32BE() % 2_000_000_000
}
