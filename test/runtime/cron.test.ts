/** What an event of the platform's schedule runs (contract 2.12). */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createScheduled } from '../../runtime/cron.ts'
import type { Cron } from '../../runtime/table.ts'

const cron = (handler: string, schedule = '0 3 * * *', target = 0): Cron =>
  ({ class: 'Jobs', handler, schedule, target }) as unknown as Cron
const crons = [cron('first'), cron('second'), cron('first', '0 4 * * MON'), cron('other', '0 5 * * *', 1)]

const lines: Record<string, unknown>[] = []
beforeEach(() => {
  lines.length = 0
  for (const level of ['info', 'error'] as const)
    vi.spyOn(console, level).mockImplementation((line: string) => void lines.push(JSON.parse(line)))
})
afterEach(() => {
  vi.restoreAllMocks()
})

const context = { waitUntil() {} } as unknown as ExecutionContext

/** @param perform the work of a method, by its name. */
async function run(schedule: string, perform: (name: string) => Promise<unknown> = async () => {}) {
  const ran: string[] = []
  let isRetried = true
  const scheduled = createScheduled(crons, {
    mirror: undefined,
    boot() {},
    perform: (_call, { handler }) => {
      ran.push(handler)
      return perform(handler)
    },
  })
  const noRetry = () => {
    isRetried = false
  }
  const event = { cron: schedule, scheduledTime: Date.UTC(2026, 0, 1, 3), noRetry }
  const error = await scheduled(event, {}, context).then(
    () => undefined,
    ({ message }: Error) => message,
  )
  return { ran, error, isRetried }
}

describe('2.12 an event', () => {
  it('runs each method of its schedule once, whatever spelling the schedule has', async () => {
    expect(await run('0 3 * * *')).toEqual({ ran: ['first', 'second'], error: undefined, isRetried: true })
    expect((await run('0 4 * * mon')).ran).toEqual(['first'])
  })

  it('runs a method by its name, once for all its schedules', async () => {
    expect((await run('Jobs.first')).ran).toEqual(['first'])
  })

  it('of no schedule fails, and the log says so', async () => {
    const { ran, error } = await run('0 6 * * *')
    expect([ran, error]).toEqual([[], expect.stringContaining('no method has the schedule "0 6 * * *"')])
    expect(lines).toMatchObject([{ level: 'error', schedule: '0 6 * * *' }])
  })
})

describe('2.12 a method that fails', () => {
  const fail = async (name: string) => {
    if (name === 'first') throw new Error('no paper')
  }

  it('fails the event, which is not run again: the others have succeeded', async () => {
    expect(await run('0 3 * * *', fail)).toEqual({
      ran: ['first', 'second'],
      error: 'scheduled work failed: Jobs.first',
      isRetried: false,
    })
  })

  it('keeps no other from its end, and each has its line', async () => {
    await run('0 3 * * *', fail)
    expect(lines.map(({ method, outcome, error }) => [method, outcome, error]).sort()).toEqual([
      ['first', 'failed', 'Error: no paper'],
      ['second', 'finished', undefined],
    ])
    expect(new Set(lines.map(({ request_id }) => request_id)).size).toBe(2)
  })
})
