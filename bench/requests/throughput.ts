/** A gated route beside its database: what a connection for each request costs. */
import { load } from '../load.ts'
import { say } from '../say.ts'
import { interleave, median, ratios } from '../statistics.ts'
import type { Sender } from '../threads.ts'
import { isTold } from '../usage.ts'
import type { Database } from './database.ts'
import type { Asked } from './gated.ts'
import type { GatedWorkers, Variant } from './gated-workers.ts'
import { startSocketProxy } from './socket-proxy.ts'

const connections = 8
/** About a second of each. */
const counts: Record<Variant, number> = { byHand: 200, each: 200, held: 1_000 }
/** The first rounds are not counted: code is not yet compiled as it will be. */
const warm = 2
const rounds = 5

const names: Record<Variant, string> = {
  byHand: 'by hand, a connection each',
  each: 'built, a connection each',
  held: 'built, held connections',
}

export async function benchThroughput(
  { variants, run }: GatedWorkers,
  asked: Asked,
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
            ...asked.read,
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
      if (variant !== 'held') say(names[variant], rate)
      else say(names[variant], rate, median(ratios(rates['held']!, rates['each']!)), 'to a connection each, ≥ 5')
      if (isTold) say('  cpu of one, in workerd', `${median(cpu[variant]).toFixed(2)} ms`)
    }
  }).finally(() => socket.close())
}
