/**
 * Calls the `scheduled` handler of a worker. `Miniflare#getWorker` is not used for that: its proxies block the event loop of this process
 * until workerd answers (`Atomics.wait`), so nothing reads workerd's log meanwhile. A workerd whose log pipe is full waits for a
 * reader, and then neither process ever goes on.
 */
import { randomBytes } from 'node:crypto'
import type { Miniflare, WorkerOptions } from 'miniflare'
import { compatibilityDate } from '../src/wire/compatibility.ts'
import type { ServedCron } from './cron.ts'

/** The host of the requests to the clock. RFC 2606 reserves names that end in `.invalid`, so it is never one of a client. */
const host = 'clock.invalid'

/** Each process of this machine can reach miniflare's own port, and only this one knows the key of its clock. */
const source = `
const digestOf = (text) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
export default {
  async fetch(request, env) {
    const given = await digestOf(request.headers.get('apikey') ?? '')
    if (!crypto.subtle.timingSafeEqual(given, await digestOf(env.KEY))) return new Response(null, { status: 403 })
    const { worker, cron, time } = await request.json()
    const target = worker === 'auth' ? env.AUTH : env.BACKEND
    const { outcome } = await target.scheduled({ cron, scheduledTime: new Date(time) })
    return Response.json({ isFinished: outcome === 'ok' })
  },
}
`

export interface Clock {
  worker: WorkerOptions
  /** @returns whether the handler ended without throwing. @throws Error where workerd ends before it has answered. */
  run(runtime: Miniflare, worker: ServedCron['worker'], cron: string, time: Date): Promise<boolean>
}

export function createClock(): Clock {
  const apikey = randomBytes(32).toString('base64url')
  return {
    worker: {
      name: 'clock',
      routes: [`${host}/*`],
      modules: [{ type: 'ESModule', path: 'clock.js', contents: source }],
      compatibilityDate,
      compatibilityFlags: ['service_binding_extra_handlers'],
      bindings: { KEY: apikey },
      serviceBindings: { AUTH: 'auth', BACKEND: 'backend' },
    },
    async run(runtime, worker, cron, time) {
      const body = JSON.stringify({ worker, cron, time })
      const answer = await runtime.dispatchFetch(`http://${host}/`, { method: 'POST', headers: { apikey }, body })
      if (answer.status !== 200) throw new Error(`the clock answered ${answer.status}: ${await answer.text()}`)
      return ((await answer.json()) as { isFinished: boolean }).isFinished
    },
  }
}
