/** The sender, in a thread of its own. A message brings a job, and another one returns the measurement. */
import { parentPort, threadId } from 'node:worker_threads'
import { type Answer, type Connection, connect } from './connection.ts'
import { median } from './statistics.ts'

/** The expected answer. Another one fails the job. */
interface Expected {
  status: number
  /** Absent where the body differs between answers. */
  body?: string
}

/** The bytes of a request, in the parts in which they are sent. */
export type Parts = readonly Uint8Array[]

export type Job =
  /** Sends `count` requests in turn, over connections that each wait for an answer before the next request. */
  | {
      what: 'send'
      port: number
      requests: readonly Parts[]
      expected: Expected
      count: number
      connections: number
    }
  /** Sends each request once, in their order, and records each answer. The pause after it is for work behind the answer. */
  | { what: 'each'; port: number; requests: readonly Parts[]; pauseMs: number }
  /** Like `send`, but each request carries a token that the answer to the one before has replaced. */
  | {
      what: 'chain'
      port: number
      chains: readonly Chain[]
      /** Source of a regular expression with the next token as its group. Without it the tokens stay. */
      next?: string
      expected: Expected
      count: number
      connections: number
    }
  | { what: 'trickle'; port: number; head: Uint8Array; body: Uint8Array; expected: Expected; pauseMs: number }
  /** Sends one small request after the other, until the flag is set. */
  | { what: 'plain'; port: number; flag: Int32Array }

export interface Measured {
  milliseconds: number
  /** Share of the time in which this thread worked. At 1 the sender is the bottleneck. */
  busy: number
  /** Shortest time to an answer, in milliseconds. */
  fastestMs: number
  medianMs: number
  slowestMs: number
  answers: number
  /** The answers of a job `each`, in the order of its requests. */
  each?: Recorded[]
  /** The chains after a job `chain`, with their next tokens. */
  chains?: Chain[]
}

export interface Chain {
  token: string
  /** The request before and after the token. All tokens have one length, so that the head states the right length of the body. */
  around: readonly [string, string]
}

export interface Recorded extends Answer {
  milliseconds: number
}

const plainRequest = Buffer.from('GET /plain HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')

async function run(job: Job): Promise<Measured> {
  if (job.what === 'send') return send(job)
  if (job.what === 'chain') return chain(job)
  const connection = await connect(job.port)
  try {
    if (job.what === 'each') return await each(connection, job)
    return await (job.what === 'trickle' ? trickle(connection, job) : plain(connection, job))
  } finally {
    connection.close()
  }
}

async function send({ port, requests, expected, count, connections }: Job & { what: 'send' }): Promise<Measured> {
  const open = await Promise.all(Array.from({ length: connections }, () => connect(port)))
  try {
    let sent = 0
    return await timed(async (expect) => {
      const one = async (connection: Connection) => {
        while (sent < count) await expect(connection.ask(requests[sent++ % requests.length]!), expected)
      }
      await Promise.all(open.map(one))
    })
  } finally {
    for (const connection of open) connection.close()
  }
}

async function chain({ port, next, ...job }: Job & { what: 'chain' }): Promise<Measured> {
  const { expected, count, connections } = job
  const open = await Promise.all(Array.from({ length: connections }, () => connect(port)))
  const chains = [...job.chains]
  try {
    let sent = 0
    const measured = await timed(async (expect) => {
      const one = async (connection: Connection) => {
        while (sent < count) {
          sent++
          const { token, around } = chains.shift()!
          const answer = connection.ask([Buffer.from(around.join(token))])
          await expect(answer, expected)
          chains.push({ around, token: next === undefined ? token : new RegExp(next).exec((await answer).body)![1]! })
        }
      }
      await Promise.all(open.map(one))
    })
    return { ...measured, chains }
  } finally {
    for (const connection of open) connection.close()
  }
}

async function each(connection: Connection, { requests, pauseMs }: Job & { what: 'each' }): Promise<Measured> {
  const recorded: Recorded[] = []
  const measured = await timed(async (expect) => {
    for (const parts of requests) {
      const began = performance.now()
      const answer = await connection.ask(parts)
      recorded.push({ ...answer, milliseconds: performance.now() - began })
      await expect(Promise.resolve(answer), answer)
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  })
  return { ...measured, each: recorded }
}

function trickle(
  connection: Connection,
  { head, body, pauseMs, expected }: Job & { what: 'trickle' },
): Promise<Measured> {
  return timed(async (expect) => expect(connection.trickle(head, body, pauseMs), expected))
}

function plain(connection: Connection, { flag }: Job & { what: 'plain' }): Promise<Measured> {
  return timed(async (expect) => {
    while (Atomics.load(flag, 0) === 0) {
      await expect(connection.ask([plainRequest]), { status: 200, body: '{"ok":true}' })
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  })
}

type Expect = (answer: Promise<Answer>, expected: Expected) => Promise<void>

/** @throws Error for an answer that is not the expected one. */
async function timed(work: (expect: Expect) => Promise<void>): Promise<Measured> {
  const waits: number[] = []
  const before = performance.eventLoopUtilization()
  const began = performance.now()
  await work(async (answer, expected) => {
    const asked = performance.now()
    const { status, body } = await answer
    if (status !== expected.status || body !== (expected.body ?? body)) throw new Error(`answered ${status} ${body}`)
    waits.push(performance.now() - asked)
  })
  const milliseconds = performance.now() - began
  const busy = performance.eventLoopUtilization(before).utilization
  waits.sort((one, other) => one - other)
  return {
    milliseconds,
    busy,
    fastestMs: waits[0]!,
    medianMs: median(waits),
    slowestMs: waits.at(-1)!,
    answers: waits.length,
  }
}

parentPort?.on('message', async ({ id, job }: { id: number; job: Job }) => {
  try {
    parentPort!.postMessage({ id, measured: await run(job) })
  } catch (error) {
    parentPort!.postMessage({ id, failure: `thread ${threadId}: ${(error as Error).stack}` })
  }
})
