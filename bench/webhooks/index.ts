/** Deliveries against a Worker written by hand and one with the providers' SDKs: each a workerd, over loopback. */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Measured } from '../client.ts'
import { load, type Requests } from '../load.ts'
import { ms, printRow } from '../print-row.ts'
import { interleave, median, ratios } from '../statistics.ts'
import { type Sender, startSender } from '../threads.ts'
import { reportsCpu, residentMebibytes } from '../usage.ts'
import type { Workerd, WorkerModule } from '../workerd.ts'
import { type Delivery, delivery, providers } from './deliveries.ts'
import { bundles, start, type Variant } from './variants.ts'

const variants: Record<Variant, string> = { byHand: 'by hand', built: 'built', bySdk: 'its SDK' }
const names = Object.keys(variants) as Variant[]

/** Number of times that all workers are started anew: the place of its memory decides about a tenth of a process's speed. */
const generations = 5

/** A round has `count` deliveries. The `warm` rounds are not counted, because V8 has not optimized the code yet. */
const sizes = [
  { size: '1 KiB', length: 1024, count: 800, connections: 4, warm: 4, rounds: 3 },
  { size: '100 KiB', length: 100 * 1024, count: 150, connections: 4, warm: 1, rounds: 3 },
  { size: '5 MB', length: 5_000_000, count: 4, connections: 2, warm: 1, rounds: 2 },
] as const

export async function benchWebhooks(): Promise<void> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-bench-'))
  const sender = startSender()
  const other = startSender()
  try {
    const modules = await bundles(folder)
    await benchThroughput(modules, sender)
    if (reportsCpu) await benchMemory(modules, sender)
    await benchHarm(modules, sender, other)
  } finally {
    await Promise.all([sender.end(), other.end()])
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** Starts the workers for this work alone, and ends them after it. */
async function withWorkers(
  modules: Record<Variant, WorkerModule[]>,
  wanted: readonly Variant[],
  work: (workers: Record<Variant, Workerd>) => Promise<void>,
  v8Flags?: readonly string[],
): Promise<void> {
  const workers = {} as Record<Variant, Workerd>
  try {
    for (const name of wanted) workers[name] = await start(modules[name], v8Flags)
    await work(workers)
  } finally {
    await Promise.all(Object.values(workers).map((worker) => worker.stop()))
  }
}

/** The answer to every delivery. */
const handled = { status: 200, body: '{"ok":true,"handled":true}' }

function deliveries({ head, body }: Delivery, count: number, connections: number): Requests {
  return { requests: [[head, body]], expected: handled, count, connections }
}

interface Figures {
  label: string
  rates: Record<Variant, number[]>
  /** CPU time of a delivery, in milliseconds. */
  cpu: Record<Variant, number[]>
}

async function benchThroughput(modules: Record<Variant, WorkerModule[]>, sender: Sender): Promise<void> {
  console.log('\ndeliveries a second, and the cpu of one; no database; every worker logs a line for each')
  console.log('medians of interleaved rounds; ratios to the one by hand, each of the same round')
  const none = (): Record<Variant, number[]> => ({ byHand: [], built: [], bySdk: [] })
  const cases = sizes.flatMap((size) =>
    providers.map((provider) => {
      const figures: Figures = { label: `${provider}, ${size.size}`, rates: none(), cpu: none() }
      return { ...size, provider, figures }
    }),
  )
  let busiest = 0
  for (let generation = 0; generation < generations; generation++) {
    await withWorkers(modules, names, async (workers) => {
      for (const { provider, length, count, connections, warm, rounds, figures } of cases) {
        const round = async (name: Variant, figure?: number[]) => {
          const sent = deliveries(delivery(provider, length), count, connections)
          const { requestsPerSecond, cpuMs, busy } = await load(sender, workers[name], sent)
          figure?.push(cpuMs)
          busiest = Math.max(busiest, busy)
          return requestsPerSecond
        }
        const each = (one: (name: Variant) => Promise<number>) =>
          Object.fromEntries(names.map((name) => [name, () => one(name)]))
        await interleave(
          warm,
          each((name) => round(name)),
        )
        const rates = await interleave(
          rounds,
          each((name) => round(name, figures.cpu[name])),
        )
        for (const name of names) figures.rates[name].push(...rates[name]!)
      }
    })
  }
  for (const { figures } of cases) report(figures)
  printRow('the sending thread, in its busiest round', `${Math.round(busiest * 100)} % busy`)
}

function report({ label, rates, cpu }: Figures): void {
  for (const name of names) {
    const own = rates[name]
    const target = name === 'built' ? '≥ 0.9' : undefined
    const compared = name === 'byHand' ? undefined : median(ratios(own, rates.byHand))
    printRow(`${label}: ${variants[name]}`, `${median(own).toFixed(median(own) < 100 ? 1 : 0)} /s`, compared, target)
  }
  if (!reportsCpu) return
  for (const name of names) {
    const own = median(cpu[name])
    const compared = name === 'byHand' ? undefined : median(ratios(cpu[name], cpu.byHand))
    printRow(`  cpu of one: ${variants[name]}`, `${own.toFixed(own < 1 ? 3 : 1)} ms`, compared)
  }
}

/** A heap of about the size that the edge allows. The default heap of a machine takes 100,000 deliveries to fill. */
const edgeHeap = ['--max-old-space-size=64', '--max-semi-space-size=4']

/** A worker that kept memory of deliveries would have grown after 10,000 of them. */
async function benchMemory(modules: Record<Variant, WorkerModule[]>, sender: Sender): Promise<void> {
  console.log(`\nmemory of workerd (${edgeHeap.join(' ')}), deliveries of 1 KiB`)
  console.log('after 25,000, by when the heap has its size, and the median of ten looks at 10,000 more')
  const compared = ['byHand', 'built'] as const
  const work = async (workers: Record<Variant, Workerd>) => {
    for (const name of compared) {
      const { pid } = workers[name]
      const send = (count: number) => load(sender, workers[name], deliveries(delivery('stripe', 1024), count, 4))
      await send(25_000)
      const warm = residentMebibytes(pid)
      const looks: number[] = []
      for (let look = 0; look < 10; look++) {
        await send(1_000)
        looks.push(residentMebibytes(pid))
      }
      const [after, most] = [median(looks), Math.max(...looks)]
      const isOwn = name === 'built'
      printRow(
        variants[name],
        `${warm.toFixed(0)} → ${after.toFixed(0)} MiB`,
        after / warm,
        isOwn ? '≤ 1.1' : undefined,
      )
      printRow('  at most', `${most.toFixed(0)} MiB`, most / warm)
    }
  }
  await withWorkers(modules, compared, work, edgeHeap)
}

/** Duration of the calm measurement, in milliseconds: several hundred small requests. */
const quietMs = 2_000

/** Sends large deliveries at once. @throws Error for an unexpected answer. The durations have no target. */
async function benchHarm(modules: Record<Variant, WorkerModule[]>, sender: Sender, other: Sender): Promise<void> {
  console.log('\n200 deliveries of 1 MB at once, one more a byte at a time, and small requests meanwhile')
  await withWorkers(modules, ['byHand', 'built'], async (workers) => {
    for (const name of ['byHand', 'built'] as const) {
      const { port } = workers[name]
      const alone = await meanwhile(other, port, () => new Promise((resolve) => setTimeout(resolve, quietMs)))
      let all: Measured | undefined
      const beside = await meanwhile(other, port, async () => {
        const [many] = await Promise.all([
          sender.run({ what: 'send', port, ...deliveries(delivery('stripe', 1_000_000), 200, 200) }),
          sender.run({ what: 'trickle', port, pauseMs: 1, expected: handled, ...delivery('stripe', 1024) }),
        ])
        all = many
      })
      printRow(`${variants[name]}: all are handled after`, ms(all!.milliseconds))
      printRow(`  slowest of ${alone.answers} small requests, alone`, ms(alone.slowestMs))
      printRow(`  slowest of ${beside.answers}, beside them`, ms(beside.slowestMs), beside.slowestMs / alone.slowestMs)
    }
  })
}

/** Sends small requests until the work is done. @returns their measurement. */
async function meanwhile(sender: Sender, port: number, work: () => Promise<void>): Promise<Measured> {
  const flag = new Int32Array(new SharedArrayBuffer(4))
  const asking = sender.run({ what: 'plain', port, flag })
  try {
    await Promise.race([work(), asking])
  } finally {
    Atomics.store(flag, 0, 1)
  }
  return asking
}
