/** Sends requests byte for byte: `fetch` would rewrite URLs, trim header values and join headers of one name. */
import net from 'node:net'

export interface RawRequest {
  /** The address to connect to. Only its host and port count. */
  url: string
  method?: string
  /** The request's target as it stands on its first line. */
  target: string
  /** One line each, as given. `host` and the length of the body are added. */
  headers: readonly (readonly [name: string, value: string])[]
  body?: Uint8Array
  /** The `host` header. Defaults to the host of `url`. */
  host?: string
  /** Sends the body in chunks of this many bytes, without a stated length. */
  chunk?: number
}

export interface RawAnswer {
  status: number
  headers: Headers
  text: string
}

/** Sends one request on a connection of its own. */
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
      // workerd waits several seconds for its peer to close the connection first.
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

/** A request whose body never ends: the test writes its bytes when it wants. */
export interface OpenRequest {
  write(bytes: string | Uint8Array): void
  /** Resolves with the answer, and rejects when the connection ends without one. */
  answer: Promise<RawAnswer>
  /** Ends the connection. */
  leave(): void
}

/**
 * Sends the head of a request, and leaves its body to the test.
 * @param length the stated length of the body. Without it the body is chunked, and the test writes the chunks itself.
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
  answer.catch(() => {}) // A test may end the connection before there is an answer.
  return { write: (bytes) => socket.write(bytes), answer, leave: () => socket.destroy() }
}

/** @returns the answer, or `undefined` until every byte of it has arrived. */
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
