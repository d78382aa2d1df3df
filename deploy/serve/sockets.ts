/** The listening sockets of a served stack, which this process keeps open while the workerd processes come and go. */
import { fork } from 'node:child_process'
import http from 'node:http'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { PortTaken } from '../../local/ports.ts'

/** A listening socket that nothing in this process accepts on. It can be given to a child process. */
export interface ListeningSocket {
  /** An entry of the `stdio` of `spawn`. */
  handle: { close(): void }
  isClosed(): boolean
  /** Does nothing the second time. */
  close(): void
  /** Gives the socket away, to one who closes it. */
  release(): object
}

export interface Listening {
  port: number
  sockets: ListeningSocket[]
}

/** Only Linux spreads connections over several sockets of one port. Elsewhere the processes share one socket. */
export const sharesPort = process.platform === 'linux'

type Message = { port: number } | { isDone: true } | { code: string; message: string }

const opener = path.join(import.meta.dirname, `socket-opener${path.extname(import.meta.filename)}`)

/**
 * @param port 0 stands for any free one.
 * @param isAdding the port is that of sockets that are open already.
 * @throws PortTaken, or an Error for an address that this machine does not have.
 */
export async function openSockets(host: string, port: number, count: number, isAdding = false): Promise<Listening> {
  // SO_REUSEPORT would share the port with another program of the same user
  if (port !== 0 && !isAdding) for (const socket of (await ask(host, port, 1, false)).sockets) socket.close()
  return ask(host, port, sharesPort ? count : 1, sharesPort)
}

async function ask(host: string, port: number, count: number, isShared: boolean): Promise<Listening> {
  const words = [host, String(port), String(count), ...(isShared ? ['shared'] : [])]
  const child = fork(opener, words, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const sockets: ListeningSocket[] = []
  const { promise, resolve, reject } = Promise.withResolvers<Listening>()
  let at = port
  child.on('message', (message: Message, handle: unknown) => {
    if ('port' in message) {
      at = message.port
      sockets.push(listeningSocket(handle as ListeningSocket['handle']))
    } else if ('isDone' in message) {
      resolve({ port: at, sockets })
    } else {
      for (const socket of sockets) socket.close()
      reject(
        message.code === 'EADDRINUSE'
          ? new PortTaken(port)
          : new Error(`${host}:${port} cannot be opened: ${message.message}`),
      )
    }
  })
  child.once('error', reject)
  child.once('exit', (code) => reject(new Error(`the sockets could not be opened: exit ${code}`)))
  return promise
}

function listeningSocket(handle: ListeningSocket['handle']): ListeningSocket {
  let isClosed = false
  return {
    handle,
    close() {
      if (!isClosed) handle.close()
      isClosed = true
    },
    isClosed: () => isClosed,
    release() {
      isClosed = true
      return handle
    },
  }
}

/** Longest time in milliseconds for the answers to connections that came too late. Only a client that sends no request reaches it. */
const answerMs = 1_000

/** The answer to connections that nothing else will accept any more. */
const ending = JSON.stringify({ error: 'unavailable', error_description: 'the stack is ending', status: 503 })

/**
 * Accepts on sockets that no other process accepts on, and answers 503. A workerd that finishes its requests keeps its socket open until
 * it ends, which resets what waits there: the clients could not know whether their requests were performed.
 *
 * @returns a function that closes the sockets, and waits until every connection has its answer.
 */
export function turnAway(sockets: readonly ListeningSocket[]): () => Promise<void> {
  const headers = {
    connection: 'close',
    'content-type': 'application/json',
    'retry-after': '1',
    'cache-control': 'no-store',
  }
  const servers = sockets.flatMap((socket) => {
    if (socket.isClosed()) return []
    const server = http.createServer((_, response) => void response.writeHead(503, headers).end(ending))
    server.on('error', () => {})
    server.listen(socket.release())
    return [server]
  })
  return async () => {
    const closed = Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
    await Promise.race([closed, sleep(answerMs, undefined, { ref: false })])
  }
}
