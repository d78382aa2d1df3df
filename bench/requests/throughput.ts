/** A gated route close to its database: compares a connection for each request with held connections. */
import { load } from '../load.ts'
import { printRow } from '../print-row.ts'
import { interleave, median, ratios } from '../statistics.ts'
import type { Sender } from '../threads.ts'
import { reportsCpu } from '../usage.ts'
import type { Database } from './database.ts'
import type { GatedRequests } from './gated-requests.ts'
import type { GatedWorkers, Variant } from './gated-workers.ts'
import { startSocketProxy } from './socket-proxy.ts'

/** Number of client connections: the worker then waits for Postgres, and not for requests. */
const connections = 8

/** Number of requests in a round: about one second of work for each variant. */
const counts: Record<Variant, number> = { byHand: 200, each: 200, held: 1_000 }
/** Number of rounds that are not counted: V8 has not optimized the code yet. */
const warm = 2

/** Number of counted rounds: enough for a median. */
const rounds = 5

const names: Record<Variant, string> = {
  byHand: 'by hand, a connection each',
  each: 'built, a connection each',
  held: 'built, held connections',
}

export async function benchThroughput(
  { variants, run }: GatedWorkers,
  requests: GatedRequests,
  database: Database,
  sender: Sender,
): Promise<void> {
  console.log(`\nthe same read beside its database, ${connections} connections; medians of interleaved rounds`)
  const socket = await startSocketProxy(database.port)
  await run({ postgres: database.port, socket: socket.port }, async (workers) => {
    const cpu: Record<Variant, number[]> = { byHand: [], each: [], held: [] }
    const measure = (isCounted: boolean) => {
      const turns = variants.map((variant) => {
        const turn = async () => {
          const { requestsPerSecond, cpuMs } = await load(sender, workers[variant], {
            ...requests.read,
            count: counts[variant],
            connections,
          })
          if (isCounted) cpu[variant].push(cpuMs)
          return requestsPerSecond
        }
        return [variant, turn] as const
      })
      return interleave(isCounted ? rounds : warm, Object.fromEntries(turns))
    }
    await measure(false)
    const rates = await measure(true)
    for (const variant of variants) {
      const rate = `${median(rates[variant]!).toFixed(0)} /s`
      if (variant !== 'held') printRow(names[variant], rate)
      else printRow(names[variant], rate, median(ratios(rates['held']!, rates['each']!)), 'to a connection each, ≥ 5')
      if (reportsCpu) printRow('  cpu of one, in workerd', `${median(cpu[variant]).toFixed(2)} ms`)
    }
  }).finally(() => socket.close())
}
