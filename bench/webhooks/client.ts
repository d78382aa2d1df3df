/** The sender, in a thread of its own: a job arrives as a message, and what it measured goes back. */
import { parentPort, threadId } from 'node:worker_threads'
import { type Answer, type Connection, connect } from './connection.ts'

interface Sent {
  port: number
  head: Uint8Array
  body: Uint8Array
}

export type Job =
  | ({ what: 'deliver'; count: number; connections: number } & Sent)
  | ({ what: 'trickle'; pauseMs: number } & Sent)
  /** One small request after the other, until the flag is set. */
  | { what: 'plain'; port: number; flag: Int32Array }

export interface Measured {
  milliseconds: number
  /** How much of that time this thread was at work: 1 means that it is what was measured. */
  busy: number
  /** Of a single answer. */
  slowestMs: number
  answers: number
}

const handled = '{"ok":true,"handled":true}'
const plainRequest = Buffer.from('GET /plain HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')

async function run(job: Job): Promise<Measured> {
  if (job.what === 'deliver') return deliver(job)
  const connection = await connect(job.port)
  try {
    return await (job.what === 'trickle' ? trickle(connection, job) : plain(connection, job))
  } finally {
    connection.close()
  }
}

async function deliver({ port, head, body, count, connections }: Job & { what: 'deliver' }): Promise<Measured> {
  const open = await Promise.all(Array.from({ length: connections }, () => connect(port)))
  try {
    let left = count
    return await timed(async (expect) => {
      const one = async (connection: Connection) => {
        while (left-- > 0) await expect(connection.ask(head, body), handled)
      }
      await Promise.all(open.map(one))
    })
  } finally {
    for (const connection of open) connection.close()
  }
}

function trickle(connection: Connection, { head, body, pauseMs }: Job & { what: 'trickle' }): Promise<Measured> {
  return timed(async (expect) => expect(connection.trickle(head, body, pauseMs), handled))
}

function plain(connection: Connection, { flag }: Job & { what: 'plain' }): Promise<Measured> {
  return timed(async (expect) => {
    while (Atomics.load(flag, 0) === 0) {
      await expect(connection.ask(plainRequest), '{"ok":true}')
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  })
}

type Expect = (answer: Promise<Answer>, expected: string) => Promise<void>

/** @throws Error for an answer that is not the expected one. */
async function timed(work: (expect: Expect) => Promise<void>): Promise<Measured> {
  let answers = 0
  let slowestMs = 0
  const before = performance.eventLoopUtilization()
  const began = performance.now()
  await work(async (answer, expected) => {
    const asked = performance.now()
    const { status, body } = await answer
    if (status !== 200 || body !== expected) throw new Error(`answered ${status} ${body}`)
    slowestMs = Math.max(slowestMs, performance.now() - asked)
    answers++
  })
  const milliseconds = performance.now() - began
  return { milliseconds, busy: performance.eventLoopUtilization(before).utilization, slowestMs, answers }
}

parentPort?.on('message', async ({ id, job }: { id: number; job: Job }) => {
  try {
    parentPort!.postMessage({ id, measured: await run(job) })
  } catch (error) {
    parentPort!.postMessage({ id, failure: `thread ${threadId}: ${(error as Error).stack}` })
  }
})
