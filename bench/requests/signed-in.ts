/** A signed-in request that needs no database, and two refused ones: throughput, and CPU time of one request. */
import path from 'node:path'
import { bundle } from '../bundle.ts'
import { load } from '../load.ts'
import type { Server } from '../node-peer.ts'
import { printRow } from '../print-row.ts'
import { interleave, median, ratios } from '../statistics.ts'
import type { Sender } from '../threads.ts'
import { reportsCpu } from '../usage.ts'
import { bareWorker, startWorkerd, type WorkerModule } from '../workerd.ts'
import { request } from './asking.ts'
import type { Issuer } from './issuer.ts'
import { serveKeySet } from './key-set.ts'
import { startNest } from './nest-process.ts'
import { profile } from './profile.ts'
import { otherRoutes } from './project.ts'

/** Number of times that all servers are started anew: the place of its memory decides about a tenth of a process's speed. */
const generations = 4
/** Number of rounds that are not counted after a start: V8 has not optimized the code yet. */
const warm = 3
/** Number of counted rounds of a generation: with the generations, 16 values for each median. */
const rounds = 4

/** Number of requests in a round, so that a round takes a fraction of a second. */
const count = 3_000

/** Number of connections: enough to keep one core of the server busy. */
const connections = 16

type ServerName = 'bare' | 'built' | 'byHand' | 'nest'

interface MeasuredRequest {
  label: string
  server: ServerName
  parts: Buffer[]
  expected: { status: number; body?: string }
}

/** @param built the bundle of the project. */
export async function benchSignedIn(built: readonly WorkerModule[], issuer: Issuer, sender: Sender): Promise<void> {
  console.log(`\na signed-in JSON route of a hundred, no database; ${connections} connections`)
  console.log('requests a second, and the cpu of one; medians of interleaved rounds, and of the ratios in each')
  const asked = await requests(issuer)
  const define = { otherRoutes: JSON.stringify(otherRoutes) }
  const byHand = await bundle(path.join(import.meta.dirname, 'workers/by-hand.ts'), define)
  const names = Object.keys(asked)
  const rates: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]))
  const cpu: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]))
  let busiest = 0
  for (let generation = 0; generation < generations; generation++) {
    await withServers({ built, byHand }, issuer, async (servers) => {
      const round = (isCounted: boolean) => async (name: string) => {
        const { server, parts, expected } = asked[name]!
        const job = { requests: [parts], expected, count, connections }
        const { requestsPerSecond, cpuMs, busy } = await load(sender, servers[server], job)
        if (isCounted) cpu[name]!.push(cpuMs)
        if (server !== 'bare') busiest = Math.max(busiest, busy)
        return requestsPerSecond
      }
      const each = (one: (name: string) => Promise<number>) =>
        Object.fromEntries(names.map((name) => [name, () => one(name)]))
      await interleave(warm, each(round(false)))
      const values = await interleave(rounds, each(round(true)))
      for (const name of names) rates[name]!.push(...values[name]!)
    })
  }
  report(asked, rates, cpu)
  printRow('the sending thread, in its busiest round but of bare', `${Math.round(busiest * 100)} % busy`)
}

async function requests(issuer: Issuer): Promise<Record<string, MeasuredRequest>> {
  const signedIn = request('GET', '/profile', await issuer.token())
  const answered = { status: 200, body: JSON.stringify(profile) }
  const expired = request('GET', '/profile', await issuer.token({ exp: Math.floor(Date.now() / 1000) - 60 }))
  const refused = { status: 401 }
  const anonymous = request('GET', '/profile')
  const ok = { status: 200, body: 'ok' }
  return {
    bare: { label: 'a bare handler', server: 'bare', parts: signedIn, expected: ok },
    bareAnonymous: { label: 'a bare handler, no token', server: 'bare', parts: anonymous, expected: ok },
    byHand: { label: 'by hand, hono and jose', server: 'byHand', parts: signedIn, expected: answered },
    nest: { label: 'NestJS, fastify, passport-jwt', server: 'nest', parts: signedIn, expected: answered },
    built: { label: 'built', server: 'built', parts: signedIn, expected: answered },
    expired: { label: 'built: an expired token, 401', server: 'built', parts: expired, expected: refused },
    anonymous: { label: 'built: no token, 401', server: 'built', parts: anonymous, expected: refused },
  }
}

function report(
  asked: Record<string, MeasuredRequest>,
  rates: Record<string, number[]>,
  cpu: Record<string, number[]>,
): void {
  for (const [name, { label }] of Object.entries(asked)) {
    const rate = `${median(rates[name]!).toFixed(0)} /s`
    if (name !== 'built') printRow(label, rate)
    else printRow(label, rate, median(ratios(rates['built']!, rates['byHand']!)), 'to by hand, ≥ 1.05')
  }
  if (!reportsCpu) return
  const targets: Record<string, [peer: string, target?: string][]> = {
    byHand: [['bare']],
    nest: [['bare']],
    built: [['bare'], ['byHand'], ['nest', '≤ 0.65']],
    expired: [['bare', '≤ 1.3']],
    anonymous: [['bare', '≤ 1.2'], ['bareAnonymous']], // receiving a token costs time even where no code reads it
  }
  for (const [name, { label }] of Object.entries(asked)) {
    printRow(`  cpu of one: ${label}`, `${(median(cpu[name]!) * 1000).toFixed(1)} µs`)
    for (const [peer, target] of targets[name] ?? []) {
      printRow(`    to ${asked[peer]!.label}`, '', median(ratios(cpu[name]!, cpu[peer]!)), target)
    }
  }
}

/** Starts the servers for this work alone, and ends them after it. */
async function withServers(
  { built, byHand }: Record<'built' | 'byHand', readonly WorkerModule[]>,
  issuer: Issuer,
  work: (servers: Record<ServerName, Server>) => Promise<void>,
): Promise<void> {
  const keySet = await serveKeySet(issuer.keySet)
  const servers: Partial<Record<ServerName, Server>> = {}
  const { AUTH_ISSUER, AUTH_AUDIENCE } = issuer.bindings
  try {
    servers.bare = await startWorkerd('/', [{ name: 'worker.js', contents: bareWorker }], {})
    servers.byHand = await startWorkerd('/plain', byHand, { ...issuer.bindings, SIGNING_KEY: issuer.jwk })
    servers.built = await startWorkerd('/plain', built, { ...issuer.bindings, AUTH_JWKS_URL: keySet.url })
    servers.nest = await startNest({ pem: issuer.pem, issuer: AUTH_ISSUER, audience: AUTH_AUDIENCE, otherRoutes })
    await work(servers as Record<ServerName, Server>)
  } finally {
    await Promise.all(Object.values(servers).map((server) => server.stop()))
    keySet.close()
  }
}
