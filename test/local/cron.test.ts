/** Scheduled methods run on time on the local stack, once for each minute (contract 2.12). The clock of these tests is faked. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Crons, type ServedCron, startCrons } from '../../local/cron.ts'

const start = Date.parse('2027-01-01T00:00:20.500Z')
const minute = 60_000

function cron(schedule: string, handler = 'go', worker: ServedCron['worker'] = 'backend', target = 0): ServedCron {
  return { schedule, target, class: 'Jobs', handler, file: 'src/app.module.ts', line: 1, worker }
}

let served: ServedCron[]
let runs: string[]
let said: string[]
let crons: Crons
let result: () => Promise<boolean>

beforeEach(() => {
  vi.useFakeTimers({ now: start, toFake: ['Date', 'setTimeout', 'clearTimeout'] })
  runs = []
  said = []
  result = async () => true
})

afterEach(async () => {
  await crons.stop()
  vi.useRealTimers()
})

function begin(...rows: ServedCron[]): void {
  served = rows
  crons = startCrons({
    served: () => served,
    async run(worker, name, time) {
      runs.push(`${worker} ${name} ${time.toISOString().slice(11, 19)}`)
      return result()
    },
    serviceRoleKey: () => 'key',
    say: (line) => said.push(line),
  })
}

describe('the clock', () => {
  it('runs each schedule at the beginning of its minutes', async () => {
    begin(
      cron('*/2 * * * *'),
      cron('1 * * * *', 'other'),
      cron('*/2 * * * *', 'third'),
      cron('* * * * *', 'go', 'auth'),
    )
    await vi.advanceTimersByTimeAsync(3 * minute)
    expect(runs).toEqual([
      'backend 1 * * * * 00:01:00',
      'auth * * * * * 00:01:00',
      'backend */2 * * * * 00:02:00',
      'auth * * * * * 00:02:00',
      'auth * * * * * 00:03:00',
    ])
  })

  it('does not run the minute in which it starts, nor one for which it is updated', async () => {
    begin(cron('0 * * * *'))
    await vi.advanceTimersByTimeAsync(minute)
    expect(runs).toEqual([])
    served = [cron('1 * * * *')]
    crons.update()
    await vi.advanceTimersByTimeAsync(minute)
    expect(runs).toEqual([])
  })

  it('takes up the schedules of a new build, and drops the old ones', async () => {
    begin(cron('* * * * *', 'old'))
    await vi.advanceTimersByTimeAsync(minute)
    served = [cron('*/3 * * * *', 'new')]
    crons.update()
    await vi.advanceTimersByTimeAsync(3 * minute)
    expect(runs).toEqual(['backend * * * * * 00:01:00', 'backend */3 * * * * 00:03:00'])
    served = []
    crons.update()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('runs no minute twice, whatever updates come in it and however the clock is set back', async () => {
    begin(cron('* * * * *'))
    await vi.advanceTimersByTimeAsync(minute)
    crons.update()
    crons.update()
    await vi.advanceTimersByTimeAsync(5_000)
    vi.setSystemTime(start + 20_000)
    await vi.advanceTimersByTimeAsync(minute)
    expect(runs).toEqual(['backend * * * * * 00:01:00'])
    await vi.advanceTimersByTimeAsync(minute)
    expect(runs).toEqual(['backend * * * * * 00:01:00', 'backend * * * * * 00:02:00'])
  })

  it('does not make up for the minutes in which the machine slept', async () => {
    begin(cron('* * * * *'))
    vi.setSystemTime(start + 30 * minute)
    await vi.advanceTimersByTimeAsync(2 * minute)
    expect(runs).toEqual(['backend * * * * * 00:31:00', 'backend * * * * * 00:32:00'])
  })

  it('runs nothing once it is stopped', async () => {
    begin(cron('* * * * *'))
    await crons.stop()
    crons.update()
    await vi.advanceTimersByTimeAsync(5 * minute)
    expect([runs, vi.getTimerCount()]).toEqual([[], 0])
  })

  it('goes on after a run that was cut short, and says so', async () => {
    result = async () => Promise.reject(new Error('workerd has ended'))
    begin(cron('* * * * *'))
    await vi.advanceTimersByTimeAsync(2 * minute)
    expect(runs).toHaveLength(2)
    expect(said).toEqual(Array(2).fill('scheduled work was cut short (* * * * *): workerd has ended'))
  })

  it('waits for a schedule that is years away, longer than one timer can', async () => {
    begin(cron('0 0 29 2 *'))
    await vi.advanceTimersByTimeAsync(60 * minute)
    expect([runs, vi.getTimerCount()]).toEqual([[], 1])
  })
})

describe('a method that is run at once', () => {
  const ask = (name: unknown, { key = 'key', method = 'POST' } = {}) =>
    crons.answer({ method, headers: { get: () => key }, json: async () => ({ name }) })
  const line = (fields: object) => crons.logged(JSON.stringify({ level: 'info', request_id: 'req_1', ...fields }))

  it('is called by its name, and answered with what its line says', async () => {
    begin(cron('0 3 * * *'), cron('0 4 * * *'))
    const answered = ask('Jobs.go')
    await vi.advanceTimersByTimeAsync(0)
    expect(runs).toEqual(['backend Jobs.go 00:00:20'])
    line({ scheduled_at: '2027-01-01T00:00:00.000Z', outcome: 'failed', duration_ms: 1 })
    line({ scheduled_at: new Date(start).toISOString(), message: 'of the project' })
    line({ scheduled_at: new Date(start).toISOString(), outcome: 'finished', duration_ms: 7 })
    expect(await answered).toEqual({
      status: 200,
      body: { name: 'Jobs.go', outcome: 'finished', request_id: 'req_1', duration_ms: 7, error: null },
    })
  })

  it('has failed where it threw, or where its worker left no line', async () => {
    begin(cron('0 3 * * *'))
    result = async () => false
    const answered = ask('Jobs.go')
    await vi.advanceTimersByTimeAsync(0)
    line({ scheduled_at: new Date(start).toISOString(), outcome: 'failed', duration_ms: 7, error: 'Error: no' })
    expect((await answered).body).toMatchObject({ outcome: 'failed', error: 'Error: no' })
    const silent = ask('Jobs.go')
    await vi.advanceTimersByTimeAsync(5_000)
    expect((await silent).body).toMatchObject({ outcome: 'failed', request_id: null })
  })

  it('is answered 503 where its worker was ended', async () => {
    begin(cron('0 3 * * *'))
    result = async () => Promise.reject(new Error('gone'))
    expect((await ask('Jobs.go')).status).toBe(503)
  })

  it('asks for the key before it tells what there is', async () => {
    begin(cron('0 3 * * *'))
    const statuses = [
      ask('Jobs.go', { key: 'keys' }),
      ask('Jobs.none', { key: '' }),
      ask('Jobs.none'),
      ask(undefined),
      ask('Jobs.go', { method: 'GET' }),
    ]
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([401, 401, 404, 404, 405])
    expect(runs).toEqual([])
  })
})
