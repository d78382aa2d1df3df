/** Records deliveries after their answers, a few at a time: a flood of forged ones must not occupy the database's connections (contract 7.8). */

import type { Queries } from '../../src/sdk/scope.ts'
import type { Call } from '../call.ts'
import { errorFields } from '../log.ts'
import { createShares, type Shares } from '../shares.ts'
import type { Webhook } from '../table.ts'
import type { Outcome, Run } from './delivery.ts'

/** Number of genuine deliveries that one isolate records at the same time (contract 7.8): a fifth of the pool's connections. */
const mostAtOnce = 4
/** Number of refused deliveries that one isolate records at the same time (contract 7.8): anyone can cause them. */
const mostRefusedAtOnce = 1

/** Number of genuine deliveries that may wait to be recorded (contract 7.8). Each holds its body in memory. */
const mostWaiting = 1_000
/** Number of refused deliveries that may wait to be recorded (contract 7.8). Fewer, because anyone can cause them. */
const mostRefusedWaiting = 200

/** Longest time in milliseconds that a transaction may record: the database ends a transaction after 30 s. */
const recordMs = 35_000

/** Milliseconds between two attempts to get a turn. Polling is needed because the Workers runtime may cancel a promise of another request. */
const pollMs = 50

/** Minimum time in milliseconds between two log lines about deliveries that were not recorded: one a minute during a flood. */
const reportMs = 60_000

/** Writes one delivery in the open transaction. */
type Write = (service: Queries, ...delivery: Parameters<Recorder>) => Promise<void>

/** Never rejects: a failure is logged, and the sender does not learn of it. */
export type Recorder = (call: Call, webhook: Webhook, outcome: Outcome, status: number, began: number) => Promise<void>

interface Lane {
  slots: Shares
  waiting: Shares
}

export function createRecorder(run: Run, write: Write): Recorder {
  const lane = (atOnce: number, waiting: number): Lane => ({
    slots: createShares(atOnce, recordMs),
    waiting: createShares(waiting, 20 * pollMs),
  })
  const genuine = lane(mostAtOnce, mostWaiting)
  const refused = lane(mostRefusedAtOnce, mostRefusedWaiting)
  /** Number of deliveries of each webhook that were not recorded and not reported yet. */
  const dropped = new Map<string, number>()
  let reportedAt = 0

  function report(call: Call): void {
    const isOver = genuine.waiting.count() + refused.waiting.count() === 0
    if (dropped.size === 0 || (!isOver && Date.now() < reportedAt + reportMs)) return
    for (const [name, count] of dropped) {
      call.log('warn', `webhook ${name}: ${count} deliveries were not recorded, because too many waited to be`, {
        webhook: name,
        dropped: count,
      })
    }
    dropped.clear()
    reportedAt = Date.now()
  }

  return async function record(call, webhook, outcome, status, began) {
    const { slots, waiting } = outcome.outcome === 'refused' ? refused : genuine
    const place = waiting.acquire()
    if (!place) {
      dropped.set(webhook.name, (dropped.get(webhook.name) ?? 0) + 1)
      return
    }
    let slot = slots.acquire()
    while (!slot) {
      await new Promise((resolve) => setTimeout(resolve, pollMs))
      place.renew()
      slot = slots.acquire()
    }
    place.release()
    try {
      await run(call, true, async ({ service }) => {
        await write(service, call, webhook, outcome, status, began)
        return new Response()
      })
    } catch (error) {
      call.log('error', `webhook ${webhook.name}: the delivery could not be recorded`, errorFields(error))
    } finally {
      slot.release()
    }
    report(call)
  }
}
