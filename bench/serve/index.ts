/** What `stack serve` costs: the same requests to one workerd process and to two behind one port, and what its log and metrics add. */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { serveStack } from '../../deploy/serve/stack.ts'
import { startPostgres } from '../../local/postgres.ts'
import { processes } from '../../local/processes.ts'
import { readProject } from '../../src/wire/project.ts'
import { ms, printRow } from '../print-row.ts'
import { request } from '../requests/asking.ts'
import { interleave, median, ratios } from '../statistics.ts'
import { type Sender, startSender } from '../threads.ts'
import { cpuMs, reportsCpu } from '../usage.ts'

/** Number of client connections: enough that the kernel gives each of two processes about half of them. */
const connections = 64
/** Number of requests in a round: about one second of work. */
const count = 2_000
/** Number of rounds that are not counted: V8 has not optimized the code yet. */
const warm = 2
/** Number of counted rounds: enough for a median. */
const rounds = 7

const project = path.resolve(import.meta.dirname, '../../examples/orders')

interface Subject {
  port: number
  pids: number[]
  stop(): Promise<unknown>
}

export async function benchServe(): Promise<void> {
  if (!reportsCpu) return console.log('this system does not report the CPU time of a process')
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-bench-'))
  const root = path.join(folder, 'orders')
  fs.cpSync(project, root, { recursive: true, filter: (name) => !name.includes('.stack') })
  fs.symlinkSync(path.resolve(project, '../../node_modules'), path.join(root, 'node_modules'), 'dir')
  const postgres = await startPostgres({ directory: path.join(folder, 'db'), password: 'bench' })
  const sender = startSender()
  const subjects: Subject[] = []
  try {
    const url = await createDatabase(postgres.port)
    const start = async (workers: number, logsRequests: boolean) => {
      const subject = await serve({ root, folder, url, workers, logsRequests })
      subjects.push(subject)
      return subject
    }
    const one = await start(1, true)
    const two = await start(2, true)
    const silent = await start(1, false)
    await compare(sender, { one, two, silent })
  } finally {
    for (const subject of subjects) await subject.stop()
    await sender.end()
    await postgres.stop()
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** @returns the URL of an owner who is no superuser. */
async function createDatabase(port: number): Promise<string> {
  const client = new pg.Client(`postgresql://postgres:bench@127.0.0.1:${port}/postgres`)
  await client.connect()
  await client.query(`create role owner login password 'bench' createrole bypassrls`)
  await client.query('create database app owner owner')
  await client.end()
  return `postgresql://owner:bench@127.0.0.1:${port}/app`
}

interface ServeBench {
  root: string
  folder: string
  url: string
  workers: number
  logsRequests: boolean
}

async function serve({ root, folder, url, workers, logsRequests }: ServeBench): Promise<Subject> {
  const before = workerds()
  const state = path.join(folder, `state-${workers}-${logsRequests}`)
  const secrets = path.join(folder, 'secrets.json')
  fs.mkdirSync(state, { recursive: true })
  // all of them serve one stack
  if (fs.existsSync(secrets)) fs.copyFileSync(secrets, path.join(state, 'secrets.json'))
  const file = fs.readFileSync(path.join(root, 'stack/project.json'), 'utf8')
  const stack = await serveStack(
    {
      locate: () => ({ root, project: readProject(JSON.parse(file)), roles: [], templates: [] }),
      ...{ built: undefined, host: '127.0.0.1', port: 0, workers, stackUrl: 'http://127.0.0.1:1', state, logsRequests },
      storage: { kind: 'folder', directory: path.join(folder, 'objects') },
      ...{ graceMs: 5_000, metrics: undefined, trusted: [], takesOver: false, variables: () => ({}) },
      environment: { DATABASE_URL: url },
      log: () => {},
      say: () => {},
    },
    new AbortController().signal,
  )
  fs.copyFileSync(path.join(state, 'secrets.json'), secrets)
  return { port: stack.port, pids: workerds().filter((pid) => !before.includes(pid)), stop: stack.stop }
}

function workerds(): number[] {
  return processes()
    .filter(({ parent, command }) => parent === process.pid && /^\S*workerd /.test(command))
    .map(({ pid }) => pid)
}

async function compare(sender: Sender, subjects: Record<'one' | 'two' | 'silent', Subject>): Promise<void> {
  console.log(`\nGET /catalogue over ${connections} connections, with one query; medians of interleaved rounds`)
  const cpu: Record<string, number[]> = { one: [], two: [], silent: [] }
  const parent: number[] = []
  const measure = (times: number, isCounted: boolean) => {
    const turns = Object.entries(subjects).map(([name, { port, pids }]) => {
      const turn = async () => {
        const used = () => pids.reduce((sum, pid) => sum + cpuMs(pid), 0)
        const [before, own] = [used(), cpuMs(process.pid)]
        const requests = [request('GET', '/catalogue')]
        const { milliseconds } = await sender.run({
          what: 'send',
          port,
          requests,
          expected: { status: 200 },
          count,
          connections,
        })
        if (isCounted) cpu[name]!.push((used() - before) / count)
        if (isCounted && name === 'one') parent.push((cpuMs(process.pid) - own) / count)
        return (count * 1000) / milliseconds
      }
      return [name, turn] as const
    })
    return interleave(times, Object.fromEntries(turns))
  }
  await measure(warm, false)
  const rates = await measure(rounds, true)
  for (const [name, label] of [
    ['one', 'one process'],
    ['two', 'two processes'],
  ] as const) {
    printRow(label, `${median(rates[name]!).toFixed(0)} /s`)
    const ratio = name === 'two' ? median(ratios(cpu['two']!, cpu['one']!)) : undefined
    printRow(
      '  cpu of one request, in workerd',
      ms(median(cpu[name]!)),
      ratio,
      ratio === undefined ? undefined : 'to one process, ≤ 1.10',
    )
  }
  const logged = median(ratios(cpu['one']!, cpu['silent']!))
  printRow('  with its line in the log, in workerd', ms(median(cpu['one']!)), logged, 'to a request without')
}
