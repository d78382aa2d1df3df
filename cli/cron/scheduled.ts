/** The scheduled methods of a project as it was last built, and those of its auth worker. */
import * as fs from 'node:fs'
import path from 'node:path'
import type { ServedCron } from '../../local/cron.ts'
import type { RouteTable } from '../../runtime/table.ts'
import { nearest } from '../../src/wire/nearest.ts'
import { projectPaths } from '../../src/wire/project-paths.ts'
import { Failure } from '../shared/failure.ts'

/** The route tables of each worker. `stack build` writes the first one of the auth worker, and `stack start` the second. */
const tables = { backend: ['table.json'], auth: ['auth/table.json', 'auth-local/table.json'] } as const

/** @throws Failure for a project that is not built. */
export function scheduledMethods(root: string): ServedCron[] {
  return (['backend', 'auth'] as const).flatMap((worker) => {
    const files = tables[worker].map((name) => path.join(root, projectPaths.generated, name))
    const file = files.find((name) => fs.existsSync(name))
    if (file === undefined) throw new Failure('refused', 'error: the project is not built yet: run `stack build`')
    const { crons = [] } = JSON.parse(fs.readFileSync(file, 'utf8')) as RouteTable
    return crons.map((cron) => ({ ...cron, worker }))
  })
}

export function nameOf({ class: className, handler }: ServedCron): string {
  return `${className}.${handler}`
}

/** The failure of a name that no scheduled method has, with the names that there are. */
export function unknownName(name: string, names: readonly string[]): Failure {
  const near = nearest(name, [...names])
  const hint = near ? `did you mean ${near}?` : names.length > 0 ? `scheduled: ${names.join(', ')}` : 'there is none'
  return new Failure('usage', `no scheduled method is named ${name}: ${hint}`)
}
