/** A database that is some way off: between a worker and Postgres, every byte takes its time. */
import net from 'node:net'

export interface SlowProxy {
  port: number
  /** Of one way, from the next byte on; 0 adds nothing. */
  delayMs: number
  close(): void
}

export async function startSlowProxy(upstreamPort: number): Promise<SlowProxy> {
  const open = new Set<net.Socket>()
  const server = net.createServer({ noDelay: true }, (client) => {
    const upstream = net.connect({ host: '127.0.0.1', port: upstreamPort, noDelay: true })
    // loopback opens a connection at once; across a distance that is a round trip before its first byte
    const openAt = performance.now() + 2 * proxy.delayMs
    forward(client, upstream, () => Math.max(0, openAt - performance.now()) + proxy.delayMs)
    forward(upstream, client, () => proxy.delayMs)
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('close', () => open.delete(socket))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxy: SlowProxy = {
    port: (server.address() as net.AddressInfo).port,
    delayMs: 0,
    close() {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
  return proxy
}

/** Two waits may end in either order: each lets the first in the row pass, whichever is whose. */
function forward(from: net.Socket, to: net.Socket, delay: () => number): void {
  const row: (() => void)[] = []
  const pass = (what: () => void) => {
    const wait = delay()
    if (wait === 0 && row.length === 0) return what()
    row.push(what)
    at(performance.now() + wait, () => row.shift()!())
  }
  from.on('data', (data: Buffer) => pass(() => to.write(data)))
  from.on('error', () => {})
  from.on('close', () => pass(() => to.destroySoon()))
}

/** A timer alone is up to a millisecond late, and a request passes here a dozen times. */
function at(due: number, work: () => void): void {
  const left = due - performance.now()
  if (left <= 0) work()
  else if (left < 1) setImmediate(at, due, work)
  else setTimeout(at, left - 1, due, work)
}
