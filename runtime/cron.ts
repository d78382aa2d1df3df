/** Runs the methods whose schedule is due: each in a scope and in transactions of its own, without a user (contract 2.12). */
import { canonicalSchedule } from '../src/wire/cron.ts'
import type { Call } from './call.ts'
import { beginInternalCall } from './caller.ts'
import type { Env } from './env.ts'
import { errorFields, writeLine } from './log.ts'
import type { Mirror } from './mirror.ts'
import type { Cron } from './table.ts'

/** The event that the platform passes to a worker's `scheduled` handler. */
type ScheduledEvent = Pick<ScheduledController, 'cron' | 'scheduledTime' | 'noRetry'>

export type ScheduledHandler = (event: ScheduledEvent, env: Env, context: ExecutionContext) => Promise<void>

/** The worker's own steps around a method. */
interface Steps {
  /** Absent from the auth worker. */
  mirror: Mirror | undefined
  boot(call: Call): void
  /** Invokes a method within a transaction. */
  perform(call: Call, cron: Cron): Promise<unknown>
}

export function createScheduled(crons: readonly Cron[], { mirror, boot, perform }: Steps): ScheduledHandler {
  return async (event, env, context) => {
    const due = dueMethods(crons, event, env)
    const run = async (cron: Cron) => {
      const call = beginInternalCall(`cron ${nameOf(cron)}`, env, context)
      await mirror?.(call)
      boot(call)
      return (await runLogged(call, cron, event, () => perform(call, cron))) ? [] : [nameOf(cron)]
    }
    const failed = (await Promise.all(due.map(run))).flat()
    if (failed.length === 0) return
    event.noRetry() // a retry would run the methods that have succeeded once more
    throw new Error(`scheduled work failed: ${failed.join(', ')}`)
  }
}

/**
 * The methods with the event's schedule. They run at the same time, so that one that fails or hangs does not stop the others.
 *
 * @param event its `cron` is a schedule. The local stack also passes `Class.method`, which is never a schedule.
 * @throws Error where there is none, so that the platform records the event as failed.
 */
function dueMethods(crons: readonly Cron[], { cron, scheduledTime }: ScheduledEvent, env: Env): Cron[] {
  const schedule = canonicalSchedule(cron)
  const due = crons.filter((one) => one.schedule === schedule || nameOf(one) === cron)
  const distinct = due.filter((one, index) => due.findIndex((other) => isSameMethod(one, other)) === index)
  if (distinct.length > 0) return distinct
  const message = `no method has the schedule "${cron}": the build's bindings.toml lists the triggers that there are`
  writeLine(env, 'error', message, { schedule: cron, scheduled_at: new Date(scheduledTime).toISOString() })
  throw new Error(message)
}

/** Logs how the work ended. @returns whether it ended without throwing. */
async function runLogged(
  call: Call,
  cron: Cron,
  { scheduledTime }: ScheduledEvent,
  work: () => Promise<unknown>,
): Promise<boolean> {
  const began = Date.now()
  const fields = () => ({
    class: cron.class,
    method: cron.handler,
    schedule: cron.schedule,
    scheduled_at: new Date(scheduledTime).toISOString(),
    duration_ms: Date.now() - began,
  })
  try {
    await work()
    call.log('info', `cron ${nameOf(cron)} finished`, { ...fields(), outcome: 'finished' })
    return true
  } catch (error) {
    call.log('error', `cron ${nameOf(cron)} failed`, { ...fields(), outcome: 'failed', ...errorFields(error) })
    return false
  }
}

function nameOf({ class: className, handler }: Cron): string {
  return `${className}.${handler}`
}

function isSameMethod(one: Cron, other: Cron): boolean {
  return one.target === other.target && one.handler === other.handler
}
