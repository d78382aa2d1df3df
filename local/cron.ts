/** Runs scheduled methods on the local stack: on time, and at once for `stack cron run` (contract 2.12). */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Cron } from '../runtime/table.ts'
import { isDue, minuteMs, nextRun } from './schedule.ts'

/** A schedule of one of the workers that are served. */
export interface ServedCron extends Cron {
  worker: 'backend' | 'auth'
}

export interface CronOptions {
  /** The schedules of the bundles that are served now. */
  served(): readonly ServedCron[]
  /** Calls a worker's `scheduled` handler. @returns whether it ended without throwing. */
  run(worker: ServedCron['worker'], cron: string, time: Date): Promise<boolean>
  /** The key of the local record, as it is now. Only a caller who can read that file may run a method. */
  serviceRoleKey: () => string
  say: (line: string) => void
}

/** The result of one method that was run at once, as the front answers it. */
export interface CronResult {
  name: string
  outcome: 'finished' | 'failed'
  request_id: string | null
  duration_ms: number | null
  /** The reason, where the method failed. */
  error: string | null
}

export interface Crons {
  /** Answers a request to run one method at once. */
  answer(request: CronRequest): Promise<CronAnswer>
  /** Receives each line that the workers log: a run is over when its line is there. */
  logged(line: string): void
  /** Follows the schedules that are served now. */
  update(): void
  /** Nothing is started any more. Methods that run already end with their worker. */
  stop(): Promise<void>
}

interface CronRequest {
  method: string
  headers: { get(name: string): string | null }
  json(): Promise<unknown>
}

interface CronAnswer {
  status: number
  body: object
}

/** Longest wait for the line of a run that is over, in milliseconds. Only the pipe of the log delays it. */
const lineMs = 5_000

export function startCrons(options: CronOptions): Crons {
  const { served, run, serviceRoleKey, say } = options
  const lines = createLines()
  const clock = startClock(served, (worker, schedule, minute) => {
    run(worker, schedule, new Date(minute)).catch((error: Error) => {
      if (!clock.isStopped()) say(`scheduled work was cut short (${schedule}): ${error.message}`)
    })
  })
  let lastTime = 0

  async function runNow(name: string, rows: readonly ServedCron[]): Promise<CronResult> {
    // the time names the run in its lines: it is never used twice, and no schedule is due within a minute
    const time = Math.max(Date.now(), lastTime + 1)
    lastTime = time % minuteMs === 0 ? time + 1 : time
    const methods = new Set(rows.map(({ target, handler, worker }) => `${worker} ${target} ${handler}`))
    const expected = lines.expect(new Date(lastTime).toISOString(), methods.size)
    const workers = [...new Set(rows.map(({ worker }) => worker))]
    const ended = await Promise.all(workers.map((worker) => run(worker, name, new Date(lastTime))))
    const found = await expected.within(lineMs)
    const line = found.find(({ outcome }) => outcome === 'failed') ?? found[0]
    const isFailed = ended.includes(false) || line?.outcome !== 'finished'
    return {
      name,
      outcome: isFailed ? 'failed' : 'finished',
      request_id: line?.request_id ?? null,
      duration_ms: line?.duration_ms ?? null,
      error: isFailed ? (line?.error ?? 'the worker ended the run: its log says why') : null,
    }
  }

  return {
    async answer(request) {
      if (!isEqual(request.headers.get('apikey') ?? '', serviceRoleKey())) {
        return refused(401, 'unauthorized', 'the service-role key of the local record is needed in "apikey"')
      }
      if (request.method !== 'POST') return refused(405, 'method_not_allowed', 'a method is run by POST')
      const { name } = ((await request.json().catch(() => undefined)) ?? {}) as { name?: unknown }
      const rows = served().filter(({ class: className, handler }) => `${className}.${handler}` === name)
      if (rows.length === 0) return refused(404, 'not_found', `no scheduled method is named ${String(name)}`)
      try {
        return { status: 200, body: await runNow(String(name), rows) }
      } catch (error) {
        return refused(503, 'unavailable', `the run was cut short: ${(error as Error).message}`)
      }
    },
    logged: lines.logged,
    update: clock.update,
    async stop() {
      clock.stop()
    },
  }
}

interface Clock {
  update(): void
  stop(): void
  isStopped(): boolean
}

/**
 * Wakes at the beginning of each minute in which a schedule is due. A minute that has passed, because the machine slept, is not
 * made up for, and none is handled twice, also where the system's clock is set back.
 */
function startClock(
  served: () => readonly ServedCron[],
  fire: (worker: ServedCron['worker'], schedule: string, minute: number) => void,
): Clock {
  /** The last minute that was handled. The minute of the start counts as handled. */
  let handled = minuteOf(Date.now())
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  function wake(): void {
    const minute = minuteOf(Date.now())
    if (minute > handled) {
      handled = minute
      for (const [worker, schedule] of distinct(served())) if (isDue(schedule, minute)) fire(worker, schedule, minute)
    }
    update()
  }

  function update(): void {
    clearTimeout(timer)
    if (isStopped) return
    const now = Date.now()
    const from = new Date(Math.max(now, handled))
    const times = distinct(served()).flatMap(([, schedule]) => nextRun(schedule, from)?.getTime() ?? [])
    if (times.length === 0) return
    // a minute at most, because the system's clock may be set, and the machine may sleep
    timer = setTimeout(wake, Math.min(Math.max(Math.min(...times) - now, 1), minuteMs))
  }

  update()
  return {
    update,
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
    isStopped: () => isStopped,
  }
}

function minuteOf(time: number): number {
  return time - (time % minuteMs)
}

/** Each schedule of each worker once: the handler runs all its methods. */
function distinct(crons: readonly ServedCron[]): [ServedCron['worker'], string][] {
  const found = new Map(crons.map(({ worker, schedule }) => [`${worker} ${schedule}`, [worker, schedule] as const]))
  return [...found.values()].map(([worker, schedule]) => [worker, schedule])
}

interface RunLine {
  outcome: 'finished' | 'failed'
  request_id: string
  duration_ms: number
  error?: string
}

/** Finds the lines of runs in the log, by the time for which the run was scheduled. */
function createLines() {
  const waiting = new Map<string, (line: RunLine) => void>()
  return {
    logged(line: string): void {
      if (waiting.size === 0 || !line.includes('"scheduled_at"')) return
      try {
        const entry = JSON.parse(line) as RunLine & { scheduled_at: string }
        if (entry.outcome) waiting.get(entry.scheduled_at)?.(entry)
      } catch {} // a line of the project's own
    },
    expect(scheduledAt: string, count: number) {
      const found: RunLine[] = []
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.set(scheduledAt, (line) => {
        if (found.push(line) === count) resolve()
      })
      return {
        async within(ms: number): Promise<RunLine[]> {
          const timer = setTimeout(resolve, ms)
          await promise
          clearTimeout(timer)
          waiting.delete(scheduledAt)
          return found
        },
      }
    },
  }
}

function refused(status: number, error: string, description: string): CronAnswer {
  return { status, body: { error, error_description: description, status } }
}

/** Takes as long for any key, so that the time tells nothing about the right one. */
function isEqual(given: string, wanted: string): boolean {
  const [a, b] = [given, wanted].map((text) => createHash('sha256').update(text).digest())
  return timingSafeEqual(a!, b!)
}
