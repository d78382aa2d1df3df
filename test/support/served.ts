/** A stack that `stack serve` serves in a process of its own, on an external Postgres, and clients that load it. */
import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { vi } from 'vitest'
import { findPort } from '../../local/ports.ts'
import { type Finished, packageRoot } from './command.ts'
import { copyProject } from './project.ts'

export interface Served {
  url: string
  root: string
  pid: number
  /** Both of its outputs so far. */
  output(): string
  finished: Promise<Finished>
  /** The lines of its log so far. */
  lines(): Record<string, unknown>[]
  /** The values of a metric, by their labels as Prometheus writes them. */
  metric(name: string): Promise<Map<string, number>>
  /** Secrets that were made. */
  secrets(): Record<string, string>
  /** Ids of its workerd processes. */
  workerds(): Promise<number[]>
  signal(signal: NodeJS.Signals): void
}

export interface ServedOptions {
  /** A folder of this repository. */
  project: string
  /** Where it is copied to. It may hold a copy already. */
  root: string
  databaseUrl: string
  flags?: string[]
  env?: Record<string, string>
}

/** Starts `stack serve` and waits until it serves. The caller ends it. */
export async function startServed({
  project,
  root,
  databaseUrl,
  flags = [],
  env = {},
}: ServedOptions): Promise<Served> {
  if (!fs.existsSync(path.join(root, 'stack'))) copyProject(path.join(packageRoot, project), root)
  const [port, metricsPort] = [await findPort(), await findPort()]
  const words = ['serve', '--project', root, '--port', String(port), '--metrics-port', String(metricsPort), ...flags]
  const child = spawn(process.execPath, [path.join(packageRoot, 'cli/main.ts'), ...words], {
    env: { ...process.env, DATABASE_URL: databaseUrl, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  let hasEnded = false
  const finished = new Promise<Finished>((resolve) => {
    child.on('close', (code) => {
      hasEnded = true
      resolve({ code, stdout, stderr })
    })
  })
  await vi.waitUntil(() => hasEnded || stderr.includes('serving http'), { timeout: 120_000 })
  if (hasEnded) throw new Error(stderr)
  const get = async (address: string) => (await fetch(`http://127.0.0.1:${metricsPort}${address}`)).text()
  return {
    url: `http://127.0.0.1:${port}`,
    root,
    pid: child.pid!,
    output: () => stdout + stderr,
    finished,
    lines: () =>
      stdout
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    async metric(name) {
      const found = (await get('/metrics')).matchAll(new RegExp(`^${name}\\{(.*)\\} (\\S+)$`, 'gm'))
      return new Map([...found].map(([, labels, value]) => [labels!, Number(value)]))
    },
    secrets: () => JSON.parse(fs.readFileSync(path.join(root, '.stack/serve/secrets.json'), 'utf8')),
    workerds: async () => childrenOf(child.pid!).filter((pid) => /^[^\0]*workerd\0serve/.test(commandOf(pid))),
    signal: (signal) => void child.kill(signal),
  }
}

function commandOf(pid: number): string {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

/** Every process below this one. */
function childrenOf(pid: number): number[] {
  const parents = fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = fs.readFileSync(`/proc/${name}/stat`, 'utf8')
        return [[Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])] as const]
      } catch {
        return []
      }
    })
  const below = (id: number): number[] =>
    parents.flatMap(([child, parent]) => (parent === id ? [child, ...below(child)] : []))
  return below(pid)
}

export interface Load {
  /** The server is asked to end: from now on a connection that is opened anew may be refused or reset. */
  ends(): void
  /** Ends it. @returns the number of answers by status, and the errors of requests that were sent and not answered. */
  stop(): Promise<{ statuses: Record<number, number>; lost: string[]; refused: number }>
  answered(): number
}

export interface LoadOptions {
  url: string
  clients: number
  /** Each client keeps its connection. Otherwise each request has one of its own. */
  keepsAlive: boolean
  headers?: Record<string, string>
}

/** Clients that send a request as soon as they have the answer to the last one. A connection that is refused loses no request. */
export function startLoad({ url, clients, keepsAlive, headers = {} }: LoadOptions): Load {
  const statuses: Record<number, number> = {}
  const lost: string[] = []
  let refused = 0
  let answered = 0
  let isOver = false
  let isEnding = false
  async function client(): Promise<void> {
    const agent = new http.Agent({ keepAlive: keepsAlive, maxSockets: 1 })
    while (!isOver) {
      const isLate = isEnding
      const { status, error, isSent } = await send(url, agent, headers, isLate)
      if (status !== undefined) {
        statuses[status] = (statuses[status] ?? 0) + 1
        answered += 1
      } else if (isSent) lost.push(error!)
      else {
        refused += 1
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
    agent.destroy()
  }
  const running = Array.from({ length: clients }, client)
  return {
    ends() {
      isEnding = true
    },
    answered: () => answered,
    async stop() {
      isOver = true
      await Promise.all(running)
      return { statuses, lost, refused }
    },
  }
}

interface Sent {
  status?: number
  error?: string
  /** The connection was open, so that the request may have left. */
  isSent: boolean
}

function send(url: string, agent: http.Agent, headers: Record<string, string>, isLate: boolean): Promise<Sent> {
  return new Promise((resolve) => {
    let isSent = false
    const request = http.get(url, { agent, headers }, (response) => {
      response.resume()
      response.once('end', () => resolve({ status: response.statusCode!, isSent }))
      response.once('error', (error) => resolve({ error: `cut: ${error.message}`, isSent }))
    })
    request.once('socket', (socket) => {
      isSent = !socket.connecting
      if (isSent) return
      socket.once('connect', () => {
        isSent = true
      })
    })
    request.once('error', (error: NodeJS.ErrnoException) => {
      resolve({ error: `${error.code}`, isSent: isSent && (request.reusedSocket || !isLate) })
    })
  })
}

/** Waits until the load has had some more answers. */
export async function answersMore(load: Load, count: number): Promise<void> {
  const before = load.answered()
  await vi.waitUntil(() => load.answered() >= before + count, { timeout: 60_000 })
}
