/** `stack cron list`: the scheduled methods, and when each runs next. */
import { table } from '../../build/emit/report.ts'
import { nextRun } from '../../local/schedule.ts'
import { printJson } from '../shared/output.ts'
import { locateProject } from '../shared/project.ts'
import { nameOf, scheduledMethods } from './scheduled.ts'

export interface ListFlags {
  project?: string
  json?: boolean
}

export async function runList(flags: ListFlags): Promise<void> {
  const { root } = locateProject(flags.project)
  const now = new Date()
  const rows = scheduledMethods(root).map((cron) => ({
    schedule: cron.schedule,
    name: nameOf(cron),
    worker: cron.worker,
    next_run: nextRun(cron.schedule, now)?.toISOString().replace('.000Z', 'Z') ?? null,
  }))
  if (flags.json) return printJson({ data: rows })
  const cells = rows.map(({ schedule, name, worker, next_run }) => [
    schedule,
    worker === 'auth' ? `${name} (auth)` : name,
    next_run ?? 'not within years',
  ])
  const lines = table('scheduled', [['SCHEDULE', 'METHOD', 'NEXT RUN (UTC)'], ...cells])
  if (rows.length > 0) process.stderr.write(`${lines.join('\n').trimEnd()}\n`)
  if (rows.some(({ worker }) => worker === 'backend')) return
  process.stderr.write("no method of this project is scheduled: write `@Cron('0 3 * * *')` on a method of a provider\n")
}
