/**
 * Ends workerd processes without losing a request:
 *
 * 1. The front holds its answers, so that connections in use are busy.
 * 2. SIGTERM: workerd accepts no connection any more, and closes the idle ones.
 * 3. The front lets the answers go, and workerd says `connection: close` with each of them.
 */
import type { ChildProcess } from 'node:child_process'
import * as fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Drain {
  /** Resolves when the connections in use are held. */
  isHeld: Promise<void>
  /** Resolves when the process accepts no connection any more. */
  stopAccepting(): Promise<void>
  /** Lets the answers go, and waits for the end of the process. @returns whether every request was finished within the time. */
  finish(graceMs: number): Promise<boolean>
}

interface Drained {
  drain(): Promise<Drain>
}

/**
 * Drains several processes together: while one of them still accepts, no client of another one has its answer, and so none connects anew.
 * @param onClosed runs when none of them accepts any more, before the answers are sent.
 * @returns whether every request was finished within the time.
 */
export async function drainAll(
  processes: readonly Drained[],
  graceMs: number,
  onClosed: () => void = () => {},
): Promise<boolean> {
  const drains = await Promise.all(processes.map((one) => one.drain()))
  await Promise.all(drains.map(({ isHeld }) => isHeld))
  await Promise.all(drains.map((drain) => drain.stopAccepting()))
  onClosed()
  const results = await Promise.all(drains.map((drain) => drain.finish(graceMs)))
  return results.every(Boolean)
}

/** Shortest and longest time in milliseconds that answers are held before workerd is asked to end. */
const holdMs = { least: 150, most: 600 }
/** Time in milliseconds without another held answer, after which the connections in use count as held. */
const quietMs = 60
/** Milliseconds between two looks. */
const lookMs = 10
/** Longest wait in milliseconds for what takes one turn of workerd's event loop. */
const turnMs = 5_000

interface Draining {
  child: ChildProcess
  /** Path of the control socket. */
  control: string
  ended: Promise<string>
  kill(): void
}

export async function beginDrain({ child, control, ended, kill }: Draining): Promise<Drain> {
  const [hold, idle] = await Promise.all([beginHold(control), openIdle(control)])
  const began = Date.now()
  return {
    isHeld: untilQuiet(began, hold),
    async stopAccepting() {
      child.kill('SIGTERM')
      await Promise.race([idle.closed, ended, sleep(turnMs, undefined, { ref: false })])
    },
    async finish(graceMs) {
      hold.release()
      const isWhole = await Promise.race([ended.then(() => true), sleep(graceMs, false, { ref: false })])
      if (!isWhole) kill()
      await ended
      fs.rmSync(control, { force: true })
      return isWhole
    },
  }
}

async function untilQuiet(began: number, { changedAt }: Hold): Promise<void> {
  for (let now = began; now - began < holdMs.most; now = Date.now()) {
    if (now - began >= holdMs.least && now - changedAt() >= quietMs) return
    await sleep(lookMs)
  }
}

interface Hold {
  /** The time at which another answer was held last. */
  changedAt(): number
  release(): void
}

/** Asks the front to hold its answers until the body of the request ends. A front that does not answer holds none. */
function beginHold(control: string): Promise<Hold> {
  const { promise, resolve } = Promise.withResolvers<Hold>()
  let most = 0
  let changedAt = Date.now()
  const options = { socketPath: control, method: 'POST', path: '/drain', agent: false }
  const request = http.request(options, (response) => {
    response.setEncoding('utf8')
    response.on('error', () => {})
    response.on('data', (text: string) => {
      const held = Math.max(...text.trim().split('\n').map(Number))
      if (held > most) changedAt = Date.now()
      most = Math.max(most, held)
    })
    resolve({ changedAt: () => changedAt, release: () => void request.end() })
  })
  request.setTimeout(turnMs, () => request.destroy())
  request.on('error', () => resolve({ changedAt: () => 0, release: () => {} }))
  request.write(' ')
  return promise
}

/** Opens a connection that is idle after one request: workerd closes it in the turn in which it stops to accept. */
async function openIdle(control: string): Promise<{ closed: Promise<unknown> }> {
  const socket = net.connect(control)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const answered = new Promise((resolve) => socket.once('data', resolve))
  socket.on('error', () => {})
  socket.write('GET /idle HTTP/1.1\r\nhost: control\r\n\r\n')
  await Promise.race([answered, closed])
  return { closed }
}
