/**
 * A TCP socket with the interface of the WebSocket that the Neon driver expects, so that the same driver reaches any Postgres
 * without a proxy process (contract 5.4). It negotiates TLS as Postgres does: SSLRequest, one byte, handshake.
 */
import { connect } from 'cloudflare:sockets'

/** Size in bytes of the buffer that every read of a socket reuses: 64 KiB for each connection, beside an isolate's 128 MiB. */
const bufferBytes = 65_536

type Listener = (event: { data?: Uint8Array; message?: string }) => void

const sslRequest = new Uint8Array([0, 0, 0, 8, 4, 210, 22, 47])

/** @returns a class for the driver's `webSocketConstructor`, which the driver calls with `ws://host:port`. */
export function tcpSocketClass(tls: boolean) {
  return class TcpSocket {
    binaryType = 'arraybuffer'
    #socket: Socket
    #writer: WritableStreamDefaultWriter<Uint8Array> | undefined
    #listeners: { [event: string]: Listener[] } = {}
    #isClosed = false
    /** Messages of one turn of the event loop leave in one write, because each write has a cost of its own. */
    #outgoing: Uint8Array[] = []

    constructor(address: string) {
      const { hostname, port } = new URL(address)
      const host = hostname.replace(/^\[|\]$/g, '')
      this.#socket = connect(
        { hostname: host, port: Number(port) },
        { secureTransport: tls ? 'starttls' : 'off', allowHalfOpen: false },
      )
      // rejects when the connection breaks, which the reader reports first
      this.#socket.closed.catch(() => {})
      this.#run().catch((error: unknown) => {
        if (!this.#isClosed) this.#emit('error', { message: error instanceof Error ? error.message : String(error) })
        this.#close()
      })
    }

    addEventListener(event: string, listener: Listener): void {
      const listeners = this.#listeners[event] ?? []
      this.#listeners[event] = [...listeners, listener]
    }

    send(bytes: Uint8Array): void {
      if (this.#outgoing.push(bytes) === 1) queueMicrotask(() => this.#flush())
    }

    close(): void {
      this.#isClosed = true
      this.#flush()
      const closed = this.#writer ? this.#writer.close() : this.#socket.close()
      closed.catch(() => {}).finally(() => this.#close())
    }

    #flush(): void {
      const [first, ...others] = this.#outgoing.splice(0)
      if (first)
        this.#writer?.write(others.length === 0 ? first : concatenated([first, ...others])).catch(() => this.#close())
    }

    #emit(event: string, value: { data?: Uint8Array; message?: string } = {}): void {
      for (const listener of this.#listeners[event] ?? []) listener(value)
    }

    #close(): void {
      const listeners = this.#listeners['close'] ?? []
      this.#listeners = {}
      this.#isClosed = true
      this.#socket.close().catch(() => {})
      for (const listener of listeners) listener({})
    }

    async #run(): Promise<void> {
      await this.#socket.opened
      if (tls) this.#socket = await startTls(this.#socket)
      this.#writer = this.#socket.writable.getWriter()
      this.#emit('open')
      const reader = this.#socket.readable.getReader({ mode: 'byob' })
      for (let buffer = new ArrayBuffer(bufferBytes); ; ) {
        const { done, value } = await reader.read(new Uint8Array(buffer))
        if (done) break
        this.#emit('message', { data: value }) // the driver copies it
        buffer = value.buffer as ArrayBuffer
      }
      this.#close()
    }
  }
}

function concatenated(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

async function startTls(socket: Socket): Promise<Socket> {
  const writer = socket.writable.getWriter()
  await writer.write(sslRequest)
  writer.releaseLock()
  const reader = socket.readable.getReader()
  const { value } = await reader.read()
  reader.releaseLock()
  // exactly one byte: plain text behind it could come from an attacker on the network (CVE-2021-23222)
  if (value?.length !== 1 || value[0] !== 83) {
    throw new Error('the database does not offer TLS: turn it on there, or add sslmode=disable to the URL')
  }
  const secured = socket.startTls()
  secured.closed.catch(() => {})
  await secured.opened
  return secured
}
