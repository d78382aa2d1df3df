/** The times of schedules, in UTC (contract 2.12). */
import { Cron } from 'croner'
import { expandSchedule } from '../src/wire/cron.ts'

/** One minute in milliseconds, the shortest period of a schedule. */
export const minuteMs = 60_000

/** @returns the first time after `from` at which a schedule is due, or `undefined` where none comes within years. */
export function nextRun(schedule: string, from: Date): Date | undefined {
  const pattern = expandSchedule(schedule).join(' ')
  return new Cron(pattern, { mode: '5-part', alternativeWeekdays: true, timezone: 'UTC' }).nextRun(from) ?? undefined
}

/** @param minute the beginning of a minute, in milliseconds since the epoch. */
export function isDue(schedule: string, minute: number): boolean {
  return nextRun(schedule, new Date(minute - 1))?.getTime() === minute
}
