/** The beginning of a connection under TLS: SSLRequest, one byte, handshake (contract 5.4). */
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { open } from '../../runtime/database/driver.ts'
import { tcpSocketClass } from '../../runtime/database/tcp-socket.ts'

const sockets = vi.hoisted(() => ({ connect: (_address: unknown, _options: unknown): unknown => undefined }))
vi.mock('cloudflare:sockets', () => ({ connect: (...asked: [unknown, unknown]) => sockets.connect(...asked) }))

/** A server that answers the SSLRequest with these bytes. */
function server(answer: number[]) {
  const socket = {
    asked: [] as { secureTransport: string }[],
    written: [] as number[][],
    isSecured: false,
    opened: Promise.resolve(),
    closed: new Promise<void>(() => {}),
    close: async () => {},
    writable: new WritableStream<Uint8Array>({ write: (chunk) => void socket.written.push([...chunk]) }),
    readable: new ReadableStream({
      type: 'bytes',
      start: (controller) => controller.enqueue(new Uint8Array(answer)),
    }),
    startTls() {
      socket.isSecured = true
      return { ...socket, readable: new ReadableStream({ type: 'bytes' }), writable: new WritableStream() }
    },
  }
  sockets.connect = (_address, options) => {
    socket.asked.push(options as { secureTransport: string })
    return socket
  }
  return socket
}

let errors: string[]
beforeEach(() => {
  errors = []
})

/** @returns whether the connection was opened. */
function opened(): Promise<boolean> {
  const Socket = tcpSocketClass(true)
  const socket = new Socket('ws://db.example:5432')
  return new Promise((resolve) => {
    socket.addEventListener('open', () => resolve(true))
    socket.addEventListener('error', ({ message }) => {
      errors.push(message!)
      resolve(false)
    })
  })
}

describe('5.4 the answer to SSLRequest', () => {
  it('S begins the handshake', async () => {
    const socket = server([83])
    expect([await opened(), socket.isSecured, socket.written]).toEqual([true, true, [[0, 0, 0, 8, 4, 210, 22, 47]]])
  })

  it.each([[[78]], [[83, 83]], [[83, 82, 0, 0]]])('%j begins nothing', async (answer) => {
    const socket = server(answer)
    expect([await opened(), socket.isSecured]).toEqual([false, false])
    expect(errors[0]).toContain('does not offer TLS')
  })
})

describe('5.4 the host decides on TLS', () => {
  it.each([
    ['postgresql://a:b@db.example/c', 'starttls'],
    ['postgresql://a:b@db.example/c?sslmode=require', 'starttls'],
    ['postgresql://a:b@10.0.0.7/c', 'starttls'],
    ['postgresql://a:b@db.example/c?sslmode=disable', 'off'],
    ['postgresql://a:b@127.0.0.1/c', 'off'],
    ['postgresql://a:b@localhost/c', 'off'],
  ])('%s: %s', async (url, transport) => {
    const socket = server([78])
    socket.opened = Promise.reject(new Error('closed'))
    await open(url, []).catch(() => {})
    expect(socket.asked[0]!.secureTransport).toBe(transport)
  })
})
