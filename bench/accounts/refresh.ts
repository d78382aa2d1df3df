/** Refreshes of many sessions, beside what peers do to keep a session alive. Each writes a row on the same Postgres. */
import type { Chain } from '../client.ts'
import { ms, printRow } from '../print-row.ts'
import { interleave, median, ratios } from '../statistics.ts'
import type { Sender } from '../threads.ts'
import { cpuMs, reportsCpu } from '../usage.ts'
import type { Peer } from './peers/index.ts'
import { type AccountsStack, post } from './stack.ts'

/** Number of clients, each of which waits for an answer before its next request. */
const connections = 16
/** Number of requests in a round, so that a round takes about a second. */
const count = 240
/** Number of rounds that are not counted: V8 has not optimized the code yet. */
const warm = 2
/** Number of counted rounds: enough for a median beside other work on the machine. */
const rounds = 5

interface Variant {
  label: string
  server: { port: number; pid: number }
  chains: readonly Chain[]
  next?: string
}

/** @param tokens refresh tokens of the stack. */
export async function benchRefresh(
  stack: AccountsStack,
  tokens: readonly string[],
  { betterAuth, oidcProvider }: Record<'betterAuth' | 'oidcProvider', Peer>,
  sender: Sender,
): Promise<void> {
  console.log(
    `\nrefreshes a second, of ${tokens.length} sessions; ${connections} connections; the same Postgres for all`,
  )
  console.log('medians of interleaved rounds, and of the ratios in each')
  const next = '"refresh_token":"([^"]+)"'
  const variants: Record<string, Variant> = {
    own: {
      label: 'refresh: rotates, an ES256 access token',
      server: stack,
      chains: chains(tokens, refresh),
      next,
    },
    betterAuth: {
      label: 'better-auth, get-session: a new end, nothing rotates',
      server: betterAuth,
      chains: chains(betterAuth.tokens, getSession),
    },
    oidcProvider: {
      label: 'oidc-provider: rotates, an ES256 access token',
      server: oidcProvider,
      chains: chains(oidcProvider.tokens, grantRefresh),
      next,
    },
  }
  const names = Object.keys(variants)
  const none = (): Record<string, number[]> => Object.fromEntries(names.map((name) => [name, []]))
  const [cpu, databaseCpu] = [none(), none()]
  const turn = (name: string) => async () => {
    const variant = variants[name]!
    const { port, pid } = variant.server
    const used = () => (reportsCpu ? [cpuMs(pid), stack.databaseCpuMs()] : [0, 0])
    const before = used()
    const { chains, next } = variant
    const job = { port, chains, ...(next && { next }), expected: { status: 200 }, count, connections }
    const measured = await sender.run({ what: 'chain', ...job })
    variant.chains = measured.chains!
    const [own, database] = used().map((after, index) => (after - before[index]!) / count)
    cpu[name]!.push(own!)
    databaseCpu[name]!.push(database!)
    return (count * 1_000) / measured.milliseconds
  }
  const rates = await interleave(warm + rounds, Object.fromEntries(names.map((name) => [name, turn(name)])))
  for (const name of names) for (const values of [rates, cpu, databaseCpu]) values[name]!.splice(0, warm)
  for (const name of names) printRow(variants[name]!.label, `${median(rates[name]!).toFixed(0)} /s`)
  for (const [name, label] of [
    ['betterAuth', 'better-auth'],
    ['oidcProvider', 'oidc-provider'],
  ] as const) {
    printRow(`  the first to ${label}`, '', median(ratios(rates['own']!, rates[name]!)), '> 1')
  }
  if (!reportsCpu) return
  for (const name of names) {
    const [label] = variants[name]!.label.split(/[:,]/)
    printRow(`  cpu of one, and in Postgres: ${label}`, `${ms(median(cpu[name]!))} + ${ms(median(databaseCpu[name]!))}`)
  }
}

/** @param request the request of one of the sessions. */
function chains(tokens: readonly string[], request: (token: string, index: number) => Buffer): Chain[] {
  return tokens.map((token, index) => {
    const [before, after] = request(token, index).toString().split(token)
    return { token, around: [before!, after!] }
  })
}

/** Each session is one of another client. */
function refresh(token: string, index: number): Buffer {
  return post('/auth/token/refresh', { refresh_token: token }, index + 1)[0]!
}

function getSession(cookie: string): Buffer {
  return Buffer.from(`GET /api/auth/get-session HTTP/1.1\r\nhost: 127.0.0.1\r\ncookie: ${cookie}\r\n\r\n`)
}

function grantRefresh(token: string): Buffer {
  const body = new URLSearchParams({ grant_type: 'refresh_token', client_id: 'app', refresh_token: token }).toString()
  const head = `POST /token HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/x-www-form-urlencoded`
  return Buffer.from(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
}
