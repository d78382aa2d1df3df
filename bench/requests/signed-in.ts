/** A signed-in request that needs no database, and the two that are refused: throughput, and the cpu of one. */
import path from 'node:path'
import { bundle } from '../bundle.ts'
import { load } from '../load.ts'
import { say } from '../say.ts'
import { interleave, median, ratios } from '../statistics.ts'
import type { Sender } from '../threads.ts'
import { isTold } from '../usage.ts'
import { bareWorker, startWorkerd, type WorkerModule } from '../workerd.ts'
import { request } from './asking.ts'
import type { Issuer } from './issuer.ts'
import { serveKeySet } from './key-set.ts'
import { type Server, startNest } from './nest-process.ts'
import { profile } from './profile.ts'
import { otherRoutes } from './project.ts'

/** How often all are started anew: where a process has its memory decides a tenth of its speed. */
const generations = 4
/** The first rounds of a process are not counted: its code is not yet compiled as it will be. */
const warm = 3
const rounds = 4
const count = 3_000
const connections = 16

type ServerName = 'bare' | 'built' | 'byHand' | 'nest'

interface Asked {
  what: string
  server: ServerName
  parts: Buffer[]
  expected: { status: number; body?: string }
}

/** @param built of the project. */
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
  tell(asked, rates, cpu)
  say('the sending thread, in its busiest round but of bare', `${Math.round(busiest * 100)} % busy`)
}

async function requests(issuer: Issuer): Promise<Record<string, Asked>> {
  const signedIn = request('GET', '/profile', await issuer.token())
  const answered = { status: 200, body: JSON.stringify(profile) }
  const expired = request('GET', '/profile', await issuer.token({ exp: Math.floor(Date.now() / 1000) - 60 }))
  const refused = { status: 401 }
  const nobody = request('GET', '/profile')
  const ok = { status: 200, body: 'ok' }
  return {
    bare: { what: 'a bare handler', server: 'bare', parts: signedIn, expected: ok },
    bareNobody: { what: 'a bare handler, no token', server: 'bare', parts: nobody, expected: ok },
    byHand: { what: 'by hand, hono and jose', server: 'byHand', parts: signedIn, expected: answered },
    nest: { what: 'NestJS, fastify, passport-jwt', server: 'nest', parts: signedIn, expected: answered },
    built: { what: 'built', server: 'built', parts: signedIn, expected: answered },
    expired: { what: 'built: an expired token, 401', server: 'built', parts: expired, expected: refused },
    nobody: { what: 'built: no token, 401', server: 'built', parts: nobody, expected: refused },
  }
}

function tell(asked: Record<string, Asked>, rates: Record<string, number[]>, cpu: Record<string, number[]>): void {
  for (const [name, { what }] of Object.entries(asked)) {
    const rate = `${median(rates[name]!).toFixed(0)} /s`
    if (name !== 'built') say(what, rate)
    else say(what, rate, median(ratios(rates['built']!, rates['byHand']!)), 'to by hand, ≥ 1.05')
  }
  if (!isTold) return
  const targets: Record<string, [peer: string, target?: string][]> = {
    byHand: [['bare']],
    nest: [['bare']],
    built: [['bare'], ['byHand'], ['nest', '≤ 0.65']],
    expired: [['bare', '≤ 1.3']],
    nobody: [['bare', '≤ 1.2'], ['bareNobody']], // a token costs already whoever only receives it
  }
  for (const [name, { what }] of Object.entries(asked)) {
    say(`  cpu of one: ${what}`, `${(median(cpu[name]!) * 1000).toFixed(1)} µs`)
    for (const [peer, target] of targets[name] ?? []) {
      say(`    to ${asked[peer]!.what}`, '', median(ratios(cpu[name]!, cpu[peer]!)), target)
    }
  }
}

/** Runs the work with servers of their own, which are then ended. */
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
