/** Deliveries are written down after their answers, a few at a time: a flood of forged ones must not take the database's connections (contract 7.8). */

import type { Queries } from '../../src/sdk/scope.ts'
import type { Call } from '../call.ts'
import type { RequestDatabase } from '../database/transaction.ts'
import { createLeases, type Leases } from '../leases.ts'
import { errorFields } from '../log.ts'
import type { Webhook } from '../table.ts'
import type { Outcome } from './store.ts'

/** Transactions of one isolate that record at the same time: genuine deliveries, and refused ones in single file. */
const mostAtOnce = 4
const mostRefusedAtOnce = 1

/** Deliveries that may wait for their turn. What comes then is not recorded, for each of them holds memory. */
const mostWaiting = 1_000
const mostRefusedWaiting = 200

/** Longest time that a transaction may record, in milliseconds: the database ends one after 30 s. */
const recordMs = 35_000

/** How often one that waits looks for its turn, in milliseconds: a promise of another request must not be awaited. */
const pollMs = 50

/** Shortest time between two lines about deliveries that were not recorded, in milliseconds. */
const reportMs = 60_000

type Run = (
  call: Call,
  isReadOnly: boolean,
  work: (database: RequestDatabase) => Promise<Response>,
) => Promise<Response>

/** Writes one delivery, in the transaction that is open. */
type Write = (service: Queries, ...delivery: Parameters<Recorder>) => Promise<void>

/** Never fails: that a delivery is not recorded is logged, and does not concern its sender. */
export type Recorder = (call: Call, webhook: Webhook, outcome: Outcome, status: number, began: number) => Promise<void>

interface Lane {
  slots: Leases
  waiting: Leases
}

export function createRecorder(run: Run, write: Write): Recorder {
  const lane = (atOnce: number, waiting: number): Lane => ({
    slots: createLeases(atOnce, recordMs),
    waiting: createLeases(waiting, 20 * pollMs),
  })
  const genuine = lane(mostAtOnce, mostWaiting)
  const refused = lane(mostRefusedAtOnce, mostRefusedWaiting)
  /** By webhook: deliveries that were not recorded, and not told of yet. */
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
    const place = waiting.take()
    if (!place) {
      dropped.set(webhook.name, (dropped.get(webhook.name) ?? 0) + 1)
      return
    }
    let slot = slots.take()
    while (!slot) {
      await new Promise((resolve) => setTimeout(resolve, pollMs))
      place.renew()
      slot = slots.take()
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
