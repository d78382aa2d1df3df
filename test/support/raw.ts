/** A request byte for byte: `fetch` rewrites URLs, trims header values and joins headers of one name. */
import net from 'node:net'

export interface RawRequest {
  /** Where to connect; only host and port are read. */
  url: string
  method?: string
  /** The request's target as it stands on its first line. */
  target: string
  /** One line each, as given; `host` and the body's length are added. */
  headers: readonly (readonly [name: string, value: string])[]
  body?: Uint8Array
  /** Absent: that of `url`. */
  host?: string
  /** The body goes out in chunks of this size, without a length in advance. */
  chunk?: number
}

export interface RawAnswer {
  status: number
  headers: Headers
  text: string
}

export function sendRaw(request: RawRequest): Promise<RawAnswer> {
  const { url, method = 'POST', target, headers, body, chunk } = request
  const { hostname, port, host: ownHost } = new URL(url)
  const { host = ownHost } = request
  const bytes = Buffer.from(body ?? [])
  const length = chunk === undefined ? `content-length: ${bytes.length}` : 'transfer-encoding: chunked'
  const head = [`${method} ${target} HTTP/1.1`, `host: ${host}`, 'connection: close', length]
  const lines = [...head, ...headers.map(([name, value]) => `${name}: ${value}`)]
  const parts: Buffer[] = [Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')]
  parts.push(...(chunk === undefined ? [bytes] : chunks(bytes, chunk)))
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), hostname, () => socket.write(Buffer.concat(parts)))
    let received: Buffer = Buffer.alloc(0)
    socket.setTimeout(20_000, () => socket.destroy(new Error(`no answer to ${method} ${target}`)))
    socket.on('error', reject)
    socket.on('close', () =>
      reject(new Error(`no whole answer to ${method} ${target}: ${received.toString('latin1')}`)),
    )
    socket.on('data', (data) => {
      received = Buffer.concat([received, data])
      const answer = readAnswer(received)
      if (!answer) return
      resolve(answer)
      // workerd waits for seconds for its peer to close first
      socket.destroy()
    })
  })
}

function* chunks(bytes: Buffer, size: number): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) {
    const part = bytes.subarray(start, start + size)
    yield Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')])
  }
  yield Buffer.from('0\r\n\r\n')
}

/** A request whose body never ends: the test says what arrives, and when. */
export interface OpenRequest {
  write(bytes: string | Uint8Array): void
  /** Resolves with the answer; rejects when the connection ends without one. */
  answer: Promise<RawAnswer>
  /** Ends the connection. */
  leave(): void
}

/**
 * Sends a request's head and the beginning of its body, and leaves it there.
 * @param length the stated length of the body; absent: the body is chunked, and `write` sends its bytes as they are.
 */
export function openRequest({
  url,
  method = 'POST',
  target,
  headers,
  length,
}: Omit<RawRequest, 'body' | 'chunk' | 'host'> & { length?: number }): OpenRequest {
  const { hostname, port, host } = new URL(url)
  const framing = length === undefined ? 'transfer-encoding: chunked' : `content-length: ${length}`
  const lines = [`${method} ${target} HTTP/1.1`, `host: ${host}`, 'connection: close', framing]
  lines.push(...headers.map(([name, value]) => `${name}: ${value}`))
  const socket = net.connect(Number(port), hostname)
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  const answer = new Promise<RawAnswer>((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0)
    socket.on('error', reject)
    socket.on('close', () => reject(new Error(`no answer to ${method} ${target}`)))
    socket.on('data', (data) => {
      received = Buffer.concat([received, data])
      const whole = readAnswer(received)
      if (!whole) return
      resolve(whole)
      socket.destroy()
    })
  })
  answer.catch(() => {}) // a test may leave before there is one
  return { write: (bytes) => socket.write(bytes), answer, leave: () => socket.destroy() }
}

/** @returns `undefined` until it is whole. */
function readAnswer(bytes: Buffer): RawAnswer | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first, ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const headers = new Headers()
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  const body = bytes.subarray(end + 4)
  const isChunked = headers.get('transfer-encoding') === 'chunked'
  const whole = isChunked ? unchunk(body) : counted(body, Number(headers.get('content-length')))
  return whole && { status: Number(first?.split(' ')[1]), headers, text: whole.toString() }
}

const counted = (bytes: Buffer, length: number) => (bytes.length < length ? undefined : bytes.subarray(0, length))

function unchunk(bytes: Buffer): Buffer | undefined {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const end = bytes.indexOf('\r\n', at)
    if (end < 0) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, end), 16)
    if (size === 0) return Buffer.concat(parts)
    parts.push(bytes.subarray(end + 2, end + 2 + size))
    at = end + 2 + size + 2
  }
}
