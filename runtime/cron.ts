/** Runs the methods whose schedule is due: each in a scope and in transactions of its own, without a user (contract 2.12). */
import { canonicalSchedule } from '../src/wire/cron.ts'
import type { Call } from './call.ts'
import type { Env } from './env.ts'
import { errorFields, writeLine } from './log.ts'
import type { Cron } from './table.ts'

/** What the worker does around a method. */
export interface CronRunner {
  /** Begins a call with a request id of its own. @param caller names the method among the callers of the database. */
  begin(caller: string): Promise<Call>
  /** Invokes the method within a transaction. */
  perform(call: Call, cron: Cron): Promise<unknown>
}

/** The event that the platform passes to a worker's `scheduled` handler. */
export type ScheduledEvent = Pick<ScheduledController, 'cron' | 'scheduledTime' | 'noRetry'>

/**
 * Runs all methods with the event's schedule at the same time, so that one that fails or hangs does not stop the others.
 *
 * @param event its `cron` is a schedule. The local stack also passes `Class.method`, which is never a schedule.
 * @throws Error when a method has failed, so that the platform records the event as failed.
 */
export async function runCrons(
  crons: readonly Cron[],
  { begin, perform }: CronRunner,
  event: ScheduledEvent,
  env: Env,
): Promise<void> {
  const schedule = canonicalSchedule(event.cron)
  const due = crons.filter((one) => one.schedule === schedule || nameOf(one) === event.cron)
  const distinct = due.filter((one, index) => due.findIndex((other) => isSameMethod(one, other)) === index)
  const scheduledAt = new Date(event.scheduledTime).toISOString()
  if (distinct.length === 0) {
    const message = `no method has the schedule "${event.cron}": bindings.toml of the build lists the triggers`
    writeLine(env, 'error', message, { schedule: event.cron, scheduled_at: scheduledAt })
    throw new Error(message)
  }
  const run = async (cron: Cron): Promise<string | undefined> => {
    const name = nameOf(cron)
    const call = await begin(`cron ${name}`)
    const began = Date.now()
    const fields = () => ({
      class: cron.class,
      method: cron.handler,
      schedule: cron.schedule,
      scheduled_at: scheduledAt,
      duration_ms: Date.now() - began,
    })
    try {
      await perform(call, cron)
      call.log('info', `cron ${name} finished`, { ...fields(), outcome: 'finished' })
      return undefined
    } catch (error) {
      call.log('error', `cron ${name} failed`, { ...fields(), outcome: 'failed', ...errorFields(error) })
      return name
    }
  }
  const failed = (await Promise.all(distinct.map(run))).filter((name) => name !== undefined)
  if (failed.length === 0) return
  event.noRetry() // a retry would run the methods that have succeeded once more
  throw new Error(`scheduled work failed: ${failed.join(', ')}`)
}

function nameOf({ class: className, handler }: Cron): string {
  return `${className}.${handler}`
}

function isSameMethod(one: Cron, other: Cron): boolean {
  return one.target === other.target && one.handler === other.handler
}
