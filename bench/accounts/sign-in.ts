/** A sign-in by password beside one argon2id hash, which is the least that it can cost, and beside better-auth. */
import path from 'node:path'
import { bundle } from '../bundle.ts'
import { type Load, load, type Requests } from '../load.ts'
import { ms, printRow } from '../print-row.ts'
import { request } from '../requests/asking.ts'
import { interleave, median, ratios } from '../statistics.ts'
import type { Sender } from '../threads.ts'
import { reportsCpu } from '../usage.ts'
import { spawnWorkerd } from '../workerd.ts'
import type { Peer } from './peers/index.ts'
import { type AccountsStack, password, post } from './stack.ts'

/** Numbers of clients, each of which waits for an answer before its next request, and of the requests in a round. */
const sizes = [
  { connections: 1, count: 6 },
  { connections: 4, count: 8 },
  { connections: 16, count: 16 },
] as const
/** Number of rounds that are not counted: V8 has not optimized the code yet. */
const warm = 1
/** Number of counted rounds: enough for a median beside other work on the machine. */
const rounds = 4

/** Longest sign-in, as a multiple of one hash. */
const aim = 1.2

const variants = { hash: 'one argon2id hash', signIn: 'sign-in', betterAuth: 'better-auth, its default scrypt' }
/** CPU time of Postgres for one request, in milliseconds, beside that of the server. */
type Measured = Load & { databaseCpuMs: number }
type Variant = keyof typeof variants
const names = Object.keys(variants) as Variant[]

export async function benchSignIn(
  stack: AccountsStack,
  emails: readonly string[],
  betterAuth: Peer,
  sender: Sender,
): Promise<void> {
  const { memorySize, passes, parallelism } = stack.cost
  console.log(`\na sign-in by password beside one argon2id hash (m=${memorySize}, t=${passes}, p=${parallelism})`)
  console.log('the hash is a bare worker of the same package; medians of interleaved rounds, and of the ratios in each')
  const worker = await bundle(path.join(import.meta.dirname, 'workers/argon2id.ts'))
  const bare = await spawnWorkerd(worker, { COST: JSON.stringify(stack.cost) })
  try {
    await bare.answered('/')
    const asked = (to: string) => emails.map((email, index) => post(to, { email, password }, index + 1))
    const servers = { hash: bare, signIn: stack, betterAuth }
    const requests: Record<Variant, Requests['requests']> = {
      hash: [request('GET', '/')],
      signIn: asked('/auth/sign-in/password'),
      betterAuth: asked('/api/auth/sign-in/email'),
    }
    for (const { connections, count } of sizes) {
      const loads: Record<Variant, Measured[]> = { hash: [], signIn: [], betterAuth: [] }
      const turn = (name: Variant) => async () => {
        const job = { requests: requests[name], expected: { status: 200 }, count, connections }
        const before = stack.databaseCpuMs()
        const one = await load(sender, servers[name], job)
        return loads[name].push({ ...one, databaseCpuMs: (stack.databaseCpuMs() - before) / count })
      }
      await interleave(warm + rounds, Object.fromEntries(names.map((name) => [name, turn(name)])))
      for (const name of names) loads[name].splice(0, warm)
      report(connections, loads)
    }
  } finally {
    await bare.stop()
  }
}

function report(connections: number, loads: Record<Variant, Measured[]>): void {
  const of = (name: Variant, field: 'medianMs' | 'cpuMs' | 'databaseCpuMs' | 'requestsPerSecond') =>
    loads[name].map((one) => one[field])
  const isAlone = connections === 1
  console.log(isAlone ? '  one client: time of one' : `  ${connections} clients: one a second`)
  for (const name of names) {
    const values = of(name, isAlone ? 'medianMs' : 'requestsPerSecond')
    const shown = isAlone ? ms(median(values)) : `${median(values).toFixed(1)} /s`
    if (name !== 'signIn') {
      printRow(`  ${variants[name]}`, shown)
      continue
    }
    const floor = of('hash', isAlone ? 'medianMs' : 'requestsPerSecond')
    const target = isAlone ? `to the hash, ≤ ${aim}` : `to the hash, ≥ ${(1 / aim).toFixed(2)}`
    printRow(`  ${variants[name]}`, shown, median(ratios(values, floor)), target)
    const peer = of('betterAuth', isAlone ? 'medianMs' : 'requestsPerSecond')
    printRow('', '', median(ratios(values, peer)), `to better-auth, ${isAlone ? '≤' : '≥'} 1`)
  }
  if (!reportsCpu || !isAlone) return
  for (const name of names) {
    const [own, database] = [of(name, 'cpuMs'), of(name, 'databaseCpuMs')]
    const compared = name === 'signIn' ? median(ratios(own, of('hash', 'cpuMs'))) : undefined
    const shown = name === 'hash' ? ms(median(own)) : `${ms(median(own))} + ${ms(median(database))}`
    printRow(`  cpu of one, and in Postgres: ${variants[name]}`, shown, compared)
  }
}
