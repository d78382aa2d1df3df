/** A gated route with one query under row-level security: round trips to the database, and throughput beside it. */
import path from 'node:path'
import { bundle } from '../bundle.ts'
import { load } from '../load.ts'
import { ms, say } from '../say.ts'
import { interleave, median, ratios } from '../statistics.ts'
import type { Sender } from '../threads.ts'
import { isTold } from '../usage.ts'
import { startWorkerd, type Workerd, type WorkerModule } from '../workerd.ts'
import { request } from './asking.ts'
import { type Database, oldestNotes, startDatabase } from './database.ts'
import type { Issuer } from './issuer.ts'
import { type KeySetServer, serveKeySet } from './key-set.ts'
import { startSlowProxy } from './slow-proxy.ts'

const distanceMs = 20

type Variant = 'byHand' | 'each' | 'held'

interface Setting {
  /** `held` is among them where the bundle can hold connections. */
  variants: readonly Variant[]
  built: readonly WorkerModule[]
  byHand: readonly WorkerModule[]
  issuer: Issuer
  database: Database
  keySet: KeySetServer
  asked: Record<'read' | 'write', { parts: Buffer[]; expected: { status: number; body: string } }>
}

/** @param built of the project. @param folder where the database is kept. */
export async function benchGated(
  built: readonly WorkerModule[],
  issuer: Issuer,
  sender: Sender,
  folder: string,
): Promise<void> {
  const database = await startDatabase(folder)
  const keySet = await serveKeySet(issuer.keySet)
  try {
    const canHold = Buffer.from(built[0]!.contents).includes(poolClass)
    const variants: Variant[] = ['byHand', 'each', ...(canHold ? ['held' as const] : [])]
    const byHand = await bundle(path.join(import.meta.dirname, 'workers/gated-by-hand.ts'))
    const asked = requests(await issuer.token())
    const setting = { variants, built, byHand, issuer, database, keySet, asked }
    await benchRoundTrips(setting, sender)
    await benchThroughput(setting, sender)
  } finally {
    keySet.close()
    await database.stop()
  }
}

function requests(token: string): Setting['asked'] {
  const note = '{"text":"one more"}'
  return {
    read: {
      parts: request('GET', '/notes', token),
      expected: { status: 200, body: JSON.stringify(oldestNotes) },
    },
    write: { parts: request('POST', '/notes', token, note), expected: { status: 201, body: note } },
  }
}

const poolClass = 'StackPool'

/** Runs the work with workers of their own, which are then ended. @param port of Postgres, or of what stands before it. */
async function withWorkers(
  { variants, built, byHand, issuer, database, keySet }: Setting,
  port: number,
  work: (workers: Record<Variant, Workerd>) => Promise<void>,
): Promise<void> {
  const bindings = { ...issuer.bindings, DATABASE_URL: database.url(port), CLAIMS_KEY: database.claimsKey }
  const ofBuilt = { ...bindings, AUTH_JWKS_URL: keySet.url }
  const start: Record<Variant, () => Promise<Workerd>> = {
    byHand: () => startWorkerd('/plain', byHand, { ...bindings, SIGNING_KEY: issuer.jwk }),
    each: () => startWorkerd('/plain', built, ofBuilt),
    held: () => startWorkerd('/plain', built, ofBuilt, [], { STACK_POOL: poolClass }),
  }
  const workers = {} as Record<Variant, Workerd>
  try {
    for (const variant of variants) workers[variant] = await start[variant]()
    await work(workers)
  } finally {
    await Promise.all(Object.values(workers).map((worker) => worker.stop()))
  }
}

/** What is asked of whom. */
const routes: { name: string; variant: Variant; kind: 'read' | 'write'; what: string; target?: string }[] = [
  { name: 'byHand', variant: 'byHand', kind: 'read', what: 'by hand, a connection each: read' },
  { name: 'each read', variant: 'each', kind: 'read', what: 'built, a connection each: read', target: '≤ 4' },
  { name: 'each write', variant: 'each', kind: 'write', what: 'built, a connection each: write', target: '≤ 5' },
  { name: 'held read', variant: 'held', kind: 'read', what: 'built, held connections: read', target: '≤ 2' },
  { name: 'held write', variant: 'held', kind: 'write', what: 'built, held connections: write', target: '≤ 3' },
]

/** What a distance adds to the fastest answer, in round trips over it: what else there is to wait for differs. */
async function benchRoundTrips(setting: Setting, sender: Sender): Promise<void> {
  console.log(`\na gated route and one query, the database ${distanceMs} ms away: round trips, and the median latency`)
  const proxy = await startSlowProxy(setting.database.port)
  const compared = routes.filter(({ variant }) => setting.variants.includes(variant))
  try {
    await withWorkers(setting, proxy.port, async (workers) => {
      const measure = async (count: number, rounds: number): Promise<Record<'fastest' | 'medians', Values>> => {
        const fastest: Values = Object.fromEntries(compared.map(({ name }) => [name, []]))
        const variants = compared.map(({ name, variant, kind }) => {
          const { parts, expected } = setting.asked[kind]
          const job = { requests: [parts], expected, count, connections: 1 }
          const ask = async () => {
            const { fastestMs, medianMs } = await load(sender, workers[variant], job)
            fastest[name]!.push(fastestMs)
            return medianMs
          }
          return [name, ask] as const
        })
        return { fastest, medians: await interleave(rounds, Object.fromEntries(variants)) }
      }
      await measure(20, 1) // keys are fetched, the driver is loaded, code is compiled
      const near = await measure(20, 3)
      proxy.delayMs = distanceMs
      const far = await measure(5, 3)
      const peer = median(far.medians['byHand']!)
      for (const { name, what, target } of compared) {
        const added = Math.min(...far.fastest[name]!) - Math.min(...near.fastest[name]!)
        say(what, `${(added / (2 * distanceMs)).toFixed(1)} round trips`, undefined, target)
        const own = median(far.medians[name]!)
        if (name === 'byHand') say('  its latency', ms(own))
        else say('  its latency', ms(own), own / peer, name === 'held read' ? '≤ 0.25' : undefined)
      }
    })
  } finally {
    proxy.close()
  }
  if (!setting.variants.includes('held')) {
    console.log(`  the bundle exports no ${poolClass}: held connections are left out`)
  }
}

type Values = Record<string, number[]>

const connections = 8
const count = 200

async function benchThroughput(setting: Setting, sender: Sender): Promise<void> {
  console.log(`\nthe same beside its database, ${connections} connections; medians of interleaved rounds`)
  const { parts, expected } = setting.asked.read
  const job = { requests: [parts], expected, count, connections }
  const names: Record<Variant, string> = {
    byHand: 'by hand, a connection each',
    each: 'built, a connection each',
    held: 'built, held connections',
  }
  await withWorkers(setting, setting.database.port, async (workers) => {
    const cpu: Record<Variant, number[]> = { byHand: [], each: [], held: [] }
    const variants = Object.fromEntries(
      setting.variants.map((variant) => [
        variant,
        async () => {
          const { requestsPerSecond, cpuMs } = await load(sender, workers[variant], job)
          cpu[variant].push(cpuMs)
          return requestsPerSecond
        },
      ]),
    )
    await interleave(1, variants)
    for (const values of Object.values(cpu)) values.length = 0
    const rates = await interleave(5, variants)
    for (const variant of setting.variants) {
      const rate = `${median(rates[variant]!).toFixed(0)} /s`
      if (variant !== 'held') say(names[variant], rate)
      else say(names[variant], rate, median(ratios(rates['held']!, rates['each']!)), 'to a connection each, ≥ 5')
      if (isTold) say('  cpu of one, in workerd', `${median(cpu[variant]).toFixed(2)} ms`)
    }
  })
}
