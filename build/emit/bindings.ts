/** Bindings and triggers: a worker needs them of its wrangler.toml beside its secrets (contract 2.7, 2.12, 5.4). */
import { createHash } from 'node:crypto'
import type { RouteTable } from '../../runtime/table.ts'

export const bindingsFile = 'bindings.toml'

/** The settings of wrangler that follow from the code of a worker, by their names. */
export interface WorkerBindings {
  durable_objects: { bindings: { name: string; class_name: string }[] }
  migrations: { tag: string; new_sqlite_classes: string[] }[]
  ratelimits: { name: string; namespace_id: string; simple: { limit: number; period: number } }[]
  triggers: { crons: string[] }
}

/** @param project name of the project, so that two projects of one account do not share a limit. */
export function bindingsOf({ routes, crons = [] }: RouteTable, hasDatabase: boolean, project: string): WorkerBindings {
  const limits = new Map(routes.flatMap(({ limit }) => (limit ? [[limit.binding, limit] as const] : [])))
  return {
    durable_objects: { bindings: hasDatabase ? [{ name: 'STACK_POOL', class_name: 'StackPool' }] : [] },
    // wrangler demands a migration for a new class of Durable Objects. This class stores no data.
    migrations: hasDatabase ? [{ tag: 'stack-pool', new_sqlite_classes: ['StackPool'] }] : [],
    ratelimits: [...limits.values()]
      .sort((a, b) => (a.binding < b.binding ? -1 : 1))
      .map(({ binding, requests, seconds }) => ({
        name: binding,
        namespace_id: String(namespaceOf(project, binding)),
        simple: { limit: requests, period: seconds },
      })),
    triggers: { crons: [...new Set(crons.map(({ schedule }) => schedule))].sort() },
  }
}

/** The same as the text of a wrangler.toml. @returns `undefined` where nothing is needed. */
export function bindingsText(table: RouteTable, hasDatabase: boolean, project: string): string | undefined {
  const { durable_objects, migrations, ratelimits, triggers } = bindingsOf(table, hasDatabase, project)
  const all = [
    ...durable_objects.bindings.map(
      ({ name, class_name }) => `[[durable_objects.bindings]]\nname = "${name}"\nclass_name = "${class_name}"\n`,
    ),
    ...migrations.map(
      ({ tag, new_sqlite_classes }) =>
        `[[migrations]]\ntag = "${tag}"\nnew_sqlite_classes = ["${new_sqlite_classes.join('", "')}"]\n`,
    ),
    ...ratelimits.map(
      ({ name, namespace_id, simple }) =>
        `[[ratelimits]]\nname = "${name}"\nnamespace_id = "${namespace_id}"\nsimple = { limit = ${simple.limit}, period = ${simple.period} }\n`,
    ),
    ...(triggers.crons.length > 0
      ? [`[triggers]\ncrons = [${triggers.crons.map((schedule) => `"${schedule}"`).join(', ')}]\n`]
      : []),
  ]
  return all.length === 0
    ? undefined
    : `# Written by "stack build": belongs into wrangler.toml, for what this project uses.\n${all.join('\n')}`
}

/** A positive number that is the same at every build. */
function namespaceOf(project: string, binding: string): number {
  return createHash('sha256').update(`${project} ${binding}`).digest().readUInt32BE() % 2_000_000_000
}
