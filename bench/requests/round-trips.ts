/** Measures how much a distant database adds to an answer, in round trips over that distance. */
import { type Load, load } from '../load.ts'
import { ms, printRow } from '../print-row.ts'
import { interleave, median } from '../statistics.ts'
import type { Sender } from '../threads.ts'
import type { Database } from './database.ts'
import type { GatedRequests } from './gated-requests.ts'
import type { GatedWorkers, Variant } from './gated-workers.ts'
import { startSlowProxy } from './slow-proxy.ts'
import { startSocketProxy } from './socket-proxy.ts'

/** One way to the database, in milliseconds, as between neighbouring regions. Timers are off by 1 ms, which is little beside it. */
const distanceMs = 20

/** The measured requests, with the worker that answers each of them. */
const routes: { name: string; variant: Variant; kind: 'read' | 'write'; what: string; target?: string }[] = [
  { name: 'byHand', variant: 'byHand', kind: 'read', what: 'by hand, a connection each: read' },
  { name: 'each read', variant: 'each', kind: 'read', what: 'built, a connection each: read', target: '≤ 4' },
  { name: 'each write', variant: 'each', kind: 'write', what: 'built, a connection each: write', target: '≤ 5' },
  { name: 'held read', variant: 'held', kind: 'read', what: 'built, held connections: read', target: '≤ 2' },
  { name: 'held write', variant: 'held', kind: 'write', what: 'built, held connections: write', target: '≤ 3' },
]

export async function benchRoundTrips(
  { variants, run }: GatedWorkers,
  requests: GatedRequests,
  database: Database,
  sender: Sender,
): Promise<void> {
  console.log(`\na gated route and one query, the database ${distanceMs} ms away: round trips, and the median latency`)
  const compared = routes.filter(({ variant }) => variants.includes(variant))
  const socket = await startSocketProxy(database.port)
  const proxies = await Promise.all([startSlowProxy(database.port), startSlowProxy(socket.port)])
  try {
    await run({ postgres: proxies[0].port, socket: proxies[1].port }, async (workers) => {
      const measure = async (count: number, rounds: number): Promise<Record<string, Load[]>> => {
        const loads: Record<string, Load[]> = Object.fromEntries(compared.map(({ name }) => [name, []]))
        const turns = compared.map(({ name, variant, kind }) => {
          const turn = async () => {
            const one = await load(sender, workers[variant], { ...requests[kind], count, connections: 1 })
            return loads[name]!.push(one)
          }
          return [name, turn] as const
        })
        await interleave(rounds, Object.fromEntries(turns))
        return loads
      }
      await measure(20, 1) // warms up: fetches the keys, loads the driver, compiles code
      const near = await measure(20, 3)
      for (const proxy of proxies) proxy.delayMs = distanceMs
      const far = await measure(5, 3)
      const latency = (name: string) => median(far[name]!.map(({ medianMs }) => medianMs))
      for (const { name, what, target } of compared) {
        // The fastest answers: every other delay differs between answers.
        const added = fastest(far[name]!) - fastest(near[name]!)
        printRow(what, `${(added / (2 * distanceMs)).toFixed(1)} round trips`, undefined, target)
        const own = latency(name)
        if (name === 'byHand') printRow('  its latency', ms(own))
        else printRow('  its latency', ms(own), own / latency('byHand'), name === 'held read' ? '≤ 0.25' : undefined)
      }
    })
  } finally {
    for (const proxy of [...proxies, socket]) proxy.close()
  }
}

function fastest(loads: readonly Load[]): number {
  return Math.min(...loads.map(({ fastestMs }) => fastestMs))
}
