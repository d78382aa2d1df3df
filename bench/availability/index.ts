/** Compares the waits of one user's client beside a hostile client with its waits in calm. The aim is at most 3 times. */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import { findPort } from '../../local/ports.ts'
import { type LocalStack, startStack } from '../../local/start.ts'
import { ms, printRow } from '../print-row.ts'
import type { FloodJob, FloodName } from './flood.ts'
import { writeProject } from './project.ts'

/** Duration of a measurement, in seconds: long enough for 300 answers. */
const seconds = 8
/** Pause between two requests of the plain client, in milliseconds. */
const pauseMs = 10
/** Largest ratio of the two waits that counts as available. */
const aim = 3

const floods: Record<FloodName, string> = {
  stalled: '60 bodies that stall after one byte',
  signUps: '60 sign-ups that stall after one byte',
  huge: '4 sign-ups of 100 MB',
  waiting: '60 handlers that wait in their transactions',
  sleeping: '60 statements that sleep',
}

export async function benchAvailability(): Promise<void> {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-availability-'))
  let stack: LocalStack | undefined
  try {
    const project = writeProject(root)
    const given = {
      root,
      project,
      roles: [],
      templates: [],
      variables: {},
      fresh: false,
      say: () => {},
      onLog: () => {},
    }
    stack = await startStack({ ...given, port: await findPort() }, new AbortController().signal)
    const url = stack.record.base_url
    const [plain, attacker] = [await signUp(url), await signUp(url)]
    await latencies(url, plain)
    console.log('beside a hostile client, p99 of another user’s request')
    let calm = await p99(url, plain)
    printRow('  in calm', ms(calm))
    for (const [name, what] of Object.entries(floods) as [FloodName, string][]) {
      const stop = await start({ name, url, token: attacker })
      const beside = await p99(url, plain)
      await stop()
      const again = await p99(url, plain)
      printRow(`  ${what}`, ms(beside), beside / ((calm + again) / 2), `aim: at most ${aim} ×`)
      calm = again
    }
  } finally {
    await stack?.stop()
    fs.rmSync(root, { recursive: true, force: true })
  }
}

async function signUp(url: string): Promise<string> {
  const response = await fetch(`${url}/auth/sign-up`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: `${crypto.randomUUID()}@example.com`, password: 'correct horse battery' }),
  })
  return ((await response.json()) as { access_token: string }).access_token
}

/** @throws Error for a request that fails. */
async function latencies(url: string, token: string): Promise<number[]> {
  const found: number[] = []
  for (const end = performance.now() + seconds * 1_000; performance.now() < end; ) {
    const began = performance.now()
    const response = await fetch(`${url}/notes`, { headers: { authorization: `Bearer ${token}` } })
    await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`the plain client was answered ${response.status}`)
    found.push(performance.now() - began)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  return found
}

async function p99(url: string, token: string): Promise<number> {
  const sorted = (await latencies(url, token)).sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.99)]!
}

/** Starts a hostile client in a thread of its own, for which the plain client does not wait. @returns a function that ends it. */
async function start(job: FloodJob): Promise<() => Promise<unknown>> {
  const thread = new Worker(new URL('./flood.ts', import.meta.url), { workerData: job })
  await new Promise((resolve, reject) => thread.once('message', resolve).once('error', reject))
  return async () => {
    const ended = new Promise((resolve) => thread.once('exit', resolve))
    thread.postMessage('stop')
    await ended
  }
}
