/** Scheduled work of a stack that several machines may serve: each schedule fires once a minute for the whole stack. */
import type pg from 'pg'
import { type Crons, type ServedCron, startCrons } from '../../local/cron.ts'
import { withOwner } from '../database.ts'
import type { Fleet } from './fleet.ts'
import type { LogFields } from './log-lines.ts'

export interface CronOptions {
  /** The owner's. */
  config: pg.ClientConfig
  served: () => readonly ServedCron[]
  fleet: Pick<Fleet, 'runScheduled'>
  log: (fields: LogFields) => void
}

/** Starts the clock, once the table of the claims is there. */
export async function startServedCrons({ config, served, fleet, log }: CronOptions): Promise<Crons> {
  await withOwner(config, (client) => client.query(claimsTable))
  return startCrons({
    served,
    async run(worker, cron, time) {
      try {
        if (!(await claimMinute(config, worker, cron, time))) return true
        return await fleet.runScheduled({ worker, cron, time: time.toISOString() })
      } catch (error) {
        log({
          level: 'error',
          message: `scheduled work did not run: ${(error as Error).message}`,
          schedule: cron,
          about: worker,
        })
        return false
      }
    },
    serviceRoleKey: () => '', // `stack cron run` is for the local stack
    say: (message) => log({ level: 'error', message }),
  })
}

/** Only `stack serve` uses the table, so that the owner makes it here and not in a migration. */
const claimsTable = `create table if not exists stack.cron_claims (
  worker text not null,
  schedule text not null,
  minute timestamptz not null,
  primary key (worker, schedule)
)`

/**
 * Claims one minute of a schedule. Of several machines exactly one gets it, whichever asks first. A machine that dies afterwards has
 * cut that work off, and nothing starts it again.
 *
 * @returns whether this machine is to run the schedule.
 */
export function claimMinute(config: pg.ClientConfig, worker: string, schedule: string, minute: Date): Promise<boolean> {
  return withOwner(config, async (client) => {
    const { rowCount } = await client.query(
      `insert into stack.cron_claims (worker, schedule, minute) values ($1, $2, $3)
       on conflict (worker, schedule) do update set minute = excluded.minute where cron_claims.minute < excluded.minute`,
      [worker, schedule, minute],
    )
    return rowCount === 1
  })
}
