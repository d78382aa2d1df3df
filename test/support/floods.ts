/** What a hostile client does beside an honest one: each flood goes on until it is told to stop, and says how often it tried. */
import net from 'node:net'
import { openRequest } from './raw.ts'

/** @returns how many requests the flood has sent so far. */
export interface Flood {
  sent(): number
  /** Ends every connection of the flood. */
  stop(): Promise<void>
}

export type Header = readonly [name: string, value: string]

export interface Target {
  url: string
  target: string
  headers: readonly Header[]
}

const json: Header = ['content-type', 'application/json']

/** So many connections at a time, each replaced as soon as it ends. @param one opens it, and resolves when it has ended. */
function flood(connections: number, one: (signal: AbortSignal) => Promise<unknown>): Flood {
  const ending = new AbortController()
  let sent = 0
  const runs = Array.from({ length: connections }, async () => {
    while (!ending.signal.aborted) {
      sent++
      await one(ending.signal).catch(() => {})
    }
  })
  return {
    sent: () => sent,
    async stop() {
      ending.abort()
      await Promise.all(runs)
    },
  }
}

/** Requests that send one byte of their body, and then nothing. */
export function stalled(target: Target, connections: number): Flood {
  return flood(connections, async (signal) => {
    const request = openRequest({ ...target, headers: [json, ...target.headers], length: 100 })
    request.write('"')
    await ended(request, signal)
  })
}

/** Uploads of so many bytes, as fast as they are taken. @param isChunked without a stated length. */
export function huge(target: Target, connections: number, bytes: number, isChunked: boolean): Flood {
  const part = Buffer.alloc(65_536, 'x')
  const framed = Buffer.concat([Buffer.from('10000\r\n'), part, Buffer.from('\r\n')])
  return flood(connections, async (signal) => {
    const { hostname, port, host } = new URL(target.url)
    const framing = isChunked ? 'transfer-encoding: chunked' : `content-length: ${bytes}`
    const headers = [json, ...target.headers].map((header) => header.join(': '))
    const socket = net.connect(Number(port), hostname)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => {})
    socket.resume() // the answer is not read
    const leave = () => socket.destroy()
    signal.addEventListener('abort', leave, { once: true })
    socket.write([`POST ${target.target} HTTP/1.1`, `host: ${host}`, framing, ...headers, '', ''].join('\r\n'))
    for (let left = bytes; left > 0 && !socket.destroyed; left -= part.length) {
      if (socket.write(isChunked ? framed : part)) continue
      await Promise.race([closed, new Promise((resolve) => socket.once('drain', resolve))])
    }
    socket.destroy()
    await closed
    signal.removeEventListener('abort', leave)
  })
}

/** Whole requests, one after the other on so many connections. */
export function repeated(target: Target & { method: string; body?: string }, connections: number): Flood {
  return flood(connections, async (signal) => {
    const { url, method, target: path, headers, body } = target
    const own = new AbortController() // fetch leaves its listener behind
    const leave = () => own.abort()
    signal.addEventListener('abort', leave, { once: true })
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: headers.map(([name, value]): [string, string] => [name, value]),
        signal: own.signal,
        ...(body === undefined ? {} : { body }),
      })
      await response.arrayBuffer()
    } finally {
      signal.removeEventListener('abort', leave)
    }
  })
}

/** Requests whose answers are not read. */
export function unread(target: Target, connections: number): Flood {
  return flood(connections, async (signal) => {
    const { hostname, port, host } = new URL(target.url)
    const socket = net.connect(Number(port), hostname)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => {})
    const headers = target.headers.map((header) => header.join(': '))
    socket.write([`GET ${target.target} HTTP/1.1`, `host: ${host}`, ...headers, '', ''].join('\r\n'))
    socket.pause()
    signal.addEventListener('abort', () => socket.destroy(), { once: true })
    await closed
  })
}

async function ended(request: ReturnType<typeof openRequest>, signal: AbortSignal): Promise<void> {
  signal.addEventListener('abort', request.leave, { once: true })
  await request.answer.finally(() => signal.removeEventListener('abort', request.leave))
}
