/** A keep-alive connection that sends one request after the other, with as little work around the bytes as possible. */
import net from 'node:net'

export interface Answer {
  status: number
  body: string
}

export interface Connection {
  /** @throws Error when the connection ends before the answer. */
  ask(parts: readonly Uint8Array[]): Promise<Answer>
  /** Sends the body one byte at a time, with a pause before each. */
  trickle(head: Uint8Array, body: Uint8Array, pauseMs: number): Promise<Answer>
  close(): void
}

export async function connect(port: number): Promise<Connection> {
  const socket = net.connect({ host: '127.0.0.1', port, noDelay: true })
  let received: Buffer = Buffer.alloc(0)
  let waiting: PromiseWithResolvers<Answer> | undefined
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    const answer = answerIn(received)
    if (!answer) return
    received = Buffer.alloc(0)
    waiting?.resolve(answer)
  })
  const fail = (error: Error) => waiting?.reject(error)
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the connection ended before the answer')))
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })

  function answered(): Promise<Answer> {
    waiting = Promise.withResolvers()
    return waiting.promise
  }

  return {
    ask(parts) {
      const answer = answered()
      for (const part of parts) socket.write(part)
      return answer
    },
    async trickle(head, body, pauseMs) {
      const answer = answered()
      socket.write(head)
      for (let at = 0; at < body.length; at++) {
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
        socket.write(body.subarray(at, at + 1))
      }
      return answer
    },
    close: () => socket.destroy(),
  }
}

const endOfHead = Buffer.from('\r\n\r\n')

const endOfChunks = Buffer.from('\r\n0\r\n\r\n')

/** @returns `undefined` until the answer is complete. Every answer here states its length or is chunked. */
function answerIn(received: Buffer): Answer | undefined {
  const end = received.indexOf(endOfHead)
  if (end === -1) return undefined
  const head = received.toString('latin1', 0, end)
  const status = Number(head.slice(9, 12))
  const body = received.subarray(end + endOfHead.length)
  if (/^transfer-encoding: *chunked/im.test(head)) {
    if (!body.subarray(-endOfChunks.length).equals(endOfChunks)) return undefined
    return { status, body: unchunked(body).toString('utf8') }
  }
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
  return body.length < length ? undefined : { status, body: body.toString('utf8') }
}

/** Takes the chunks out of their framing (RFC 9112 section 7.1). */
function unchunked(body: Buffer): Buffer {
  const chunks: Buffer[] = []
  for (let at = 0; ; ) {
    const end = body.indexOf('\r\n', at)
    const length = Number.parseInt(body.toString('latin1', at, end), 16)
    if (!(length > 0)) return Buffer.concat(chunks)
    chunks.push(body.subarray(end + 2, end + 2 + length))
    at = end + 2 + length + 2
  }
}
