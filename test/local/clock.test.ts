/** The local stack calls the `scheduled` handlers of its workers (contract 2.12). */
import { Log, LogLevel, Miniflare } from 'miniflare'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClock } from '../../local/clock.ts'
import { compatibilityDate } from '../../src/wire/compatibility.ts'

/** A worker that notes its events, and fails those of one schedule. */
const worker = (name: string) => ({
  name,
  compatibilityDate,
  modules: [
    {
      type: 'ESModule' as const,
      path: 'worker.js',
      contents: `const seen = []
export default {
  fetch: () => Response.json(seen),
  scheduled({ cron, scheduledTime }) {
    seen.push(['${name}', cron, new Date(scheduledTime).toISOString()])
    if (cron === 'fails') throw new TypeError('no paper')
  },
}`,
    },
  ],
})

const clock = createClock()
const time = new Date('2027-01-01T06:00:00Z')
let runtime: Miniflare

beforeAll(() => {
  const workers = [worker('backend'), worker('auth'), clock.worker]
  runtime = new Miniflare({ host: '127.0.0.1', port: 0, cf: false, log: new Log(LogLevel.NONE), workers })
})
afterAll(() => runtime.dispose())

const seenBy = async (name: string) => {
  const headers = { 'MF-Route-Override': name }
  return (await runtime.dispatchFetch('http://stack.invalid/', { headers })).json()
}

it('calls the worker that is named, with the schedule and its time, and tells how it ended', async () => {
  expect(await clock.run(runtime, 'backend', '0 6 * * *', time)).toBe(true)
  expect(await clock.run(runtime, 'auth', 'fails', time)).toBe(false)
  expect(await seenBy('backend')).toEqual([['backend', '0 6 * * *', time.toISOString()]])
  expect(await seenBy('auth')).toEqual([['auth', 'fails', time.toISOString()]])
})

it('is moved by its own process alone, though every process of the machine can reach it', async () => {
  const body = JSON.stringify({ worker: 'backend', cron: '* * * * *', time })
  for (const headers of [{}, { apikey: '' }, { apikey: 'another key' }]) {
    const answer = await runtime.dispatchFetch('http://clock.invalid/', { method: 'POST', headers, body })
    expect([answer.status, await answer.text()]).toEqual([403, ''])
  }
  await expect(createClock().run(runtime, 'backend', '* * * * *', time)).rejects.toThrow('answered 403')
  expect(await seenBy('backend')).toHaveLength(1)
})
