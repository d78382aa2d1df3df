/** Floods of a hostile client. Each goes on until the test stops it, and counts its requests. */
import net from 'node:net'
import { openRequest } from './raw.ts'

export interface Flood {
  /** @returns how many requests the flood has sent so far. */
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

/**
 * Keeps a number of connections open, and replaces each as soon as it ends.
 * @param one opens a connection, and resolves when it has ended.
 */
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

/** Sends requests whose body stops after one byte. */
export function stalled(target: Target, connections: number): Flood {
  return flood(connections, async (signal) => {
    const request = openRequest({ ...target, headers: [json, ...target.headers], length: 100 })
    request.write('"')
    await ended(request, signal)
  })
}

/**
 * Uploads a number of bytes, as fast as the server reads them.
 * @param isChunked sends the body in chunks, without a stated length.
 */
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
    socket.resume() // discards the answer
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

/** Sends whole requests one after the other, on a number of connections. */
export function repeated(target: Target & { method: string; body?: string }, connections: number): Flood {
  return flood(connections, async (signal) => {
    const { url, method, target: path, headers, body } = target
    const own = new AbortController() // fetch never removes its listener from a signal
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

/** Sends requests, and reads none of their answers. */
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
