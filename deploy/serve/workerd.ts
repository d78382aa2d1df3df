/** One workerd process: started on an open socket, asked over its control socket, drained without losing a request. */
import { type ChildProcess, spawn } from 'node:child_process'
import * as fs from 'node:fs'
import http from 'node:http'
import { createRequire } from 'node:module'
import net from 'node:net'
import type { ProcessMetrics, ScheduledCall } from '../workers/control-protocol.ts'
import { socketNames } from './config.ts'
import { beginDrain, type Drain } from './drain.ts'
import type { ListeningSocket } from './sockets.ts'

/** The binary that npm brought with miniflare, so that a stack is served by the workerd that it was tried on. */
export const workerdBinary: string = createRequire(createRequire(import.meta.url).resolve('miniflare'))(
  'workerd',
).default

/** Longest start in milliseconds. A start takes less than 1 s, so only a bundle that hangs, or an overloaded machine, reaches it. */
const startMs = 60_000

/** Longest wait for one answer of the control socket, in milliseconds. */
const controlMs = 5_000

/** Number of characters of the last messages that are kept for an error. */
const complaintsLength = 8_000

export interface WorkerdOptions {
  /** The configuration, whose control socket is at `control`. */
  config: string
  control: string
  environment: NodeJS.ProcessEnv
  /** The stack's socket. Without it the configuration names an address. */
  socket?: ListeningSocket | undefined
  /** Called with each line that the process writes. */
  onLine: (line: string) => void
}

/** A workerd that listens. */
export interface Workerd {
  pid: number
  /** The port of the address that the configuration names. */
  port: number
  /** Resolves with a sentence when the process has ended. */
  ended: Promise<string>
  metrics(): Promise<ProcessMetrics>
  /** @returns whether the method ended without throwing. */
  runScheduled(call: ScheduledCall): Promise<boolean>
  /** Begins to end the process. The socket itself stays open in this process. */
  drain(): Promise<Drain>
  kill(): void
}

/**
 * Runs workerd under a shell's guard: when this process dies, even by SIGKILL, the pipe breaks and the guard kills workerd, which would
 * otherwise keep its port. A newline tells the guard that workerd has ended by itself.
 */
const guarded = `(exec 3<&- 4>&- </dev/null >/dev/null 2>&1; read -r line <&5 || kill -KILL $$) &
exec 5<&-
exec "$0" "$@"`

/** @throws Error with workerd's own words when it does not start. */
export async function startWorkerd({ config, control, environment, socket, onLine }: WorkerdOptions): Promise<Workerd> {
  fs.rmSync(control, { force: true })
  const words = ['serve', '--experimental', '--control-fd=4', config, 'config']
  if (socket) words.splice(2, 0, `--socket-fd=${socketNames.public}=3`)
  const child = spawn('/bin/sh', ['-c', guarded, workerdBinary, ...words], {
    // a process group of its own: Ctrl-C in a terminal must not end a request
    detached: true,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe', (socket?.handle as never) ?? 'ignore', 'pipe', 'pipe'],
  })
  const complaints = followLines(child, onLine)
  const guard = pipeOf(child, 5)
  guard.on('error', () => {})
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`workerd does not run: ${error.message}`))
    child.once('exit', (code, signal) => {
      guard.end('\n')
      resolve(`workerd ended with ${signal ?? `exit ${code}`}`)
    })
  })
  const kill = () => void child.kill('SIGKILL')
  const timer = setTimeout(kill, startMs)
  const port = await Promise.race([
    listening(child),
    ended.then((sentence) => Promise.reject(new Error(`${sentence}. ${complaints()}`.trim()))),
  ]).finally(() => clearTimeout(timer))
  return {
    pid: child.pid!,
    port,
    ended,
    metrics: async () => JSON.parse(await ask(control, 'GET', '/metrics')) as ProcessMetrics,
    async runScheduled(call) {
      const { isFinished } = JSON.parse(await ask(control, 'POST', '/scheduled', JSON.stringify(call), 0))
      return isFinished === true
    },
    drain: () => beginDrain({ child, control, ended, kill }),
    kill,
  }
}

/** The types know five streams of a child process. */
function pipeOf({ stdio }: ChildProcess, index: number): net.Socket {
  return (stdio as unknown as net.Socket[])[index]!
}

/** Waits until both sockets are open. @returns the port of the stack's socket. */
function listening(child: ChildProcess): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const open = new Map<string, number>()
  let text = ''
  const pipe = pipeOf(child, 4)
  pipe.on('error', () => {})
  pipe.on('data', (chunk: Buffer) => {
    const lines = (text + chunk).split('\n')
    text = lines.pop()!
    for (const line of lines.filter(Boolean)) {
      const { event, socket, port } = JSON.parse(line) as { event: string; socket: string; port: number }
      if (event === 'listen') open.set(socket, port)
    }
    if (open.size === 2) resolve(open.get(socketNames.public)!)
  })
  return promise
}

/** @returns a function that gives the last lines, for an error. */
function followLines(child: ChildProcess, onLine: (line: string) => void): () => string {
  let last = ''
  for (const stream of [child.stdout!, child.stderr!]) {
    let text = ''
    stream.setEncoding('utf8')
    stream.on('data', (chunk: string) => {
      last = (last + chunk).slice(-complaintsLength)
      const lines = (text + chunk).split('\n')
      text = lines.pop()!.slice(-longestLine)
      for (const line of lines) if (line !== '') onLine(line)
    })
    stream.on('end', () => {
      if (text !== '') onLine(text)
    })
  }
  return () => last.trim()
}

/** Longest line in characters that is kept while its end has not come. A worker may log a text without an end. */
const longestLine = 1_048_576

/** @param timeoutMs 0 stands for none: scheduled work takes as long as it takes. @throws Error when the process does not answer. */
function ask(control: string, method: string, path: string, body?: string, timeoutMs = controlMs): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const request = http.request({ socketPath: control, method, path, agent: false }, (response) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => {
      text += chunk
    })
    response.once('error', reject)
    response.once('end', () => (response.statusCode === 200 ? resolve(text) : reject(new Error(text))))
    response.once('close', () => reject(new Error('workerd ended before it answered')))
  })
  if (timeoutMs > 0) request.setTimeout(timeoutMs, () => request.destroy(new Error('workerd does not answer')))
  request.once('error', reject)
  request.end(body)
  return promise
}
