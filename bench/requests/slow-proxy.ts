/** A proxy between a worker and Postgres that delays every byte, like a distance does. */
import net from 'node:net'

export interface SlowProxy {
  port: number
  /** Delay of one way in milliseconds, from the next byte on. 0 adds no delay. */
  delayMs: number
  close(): void
}

export async function startSlowProxy(upstreamPort: number): Promise<SlowProxy> {
  const open = new Set<net.Socket>()
  const server = net.createServer({ noDelay: true }, (client) => {
    const upstream = net.connect({ host: '127.0.0.1', port: upstreamPort, noDelay: true })
    // Loopback opens a connection at once. Over a distance, a round trip comes before the first byte.
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

/** Forwards bytes in their order. Two timers may fire in either order, so each one releases the first chunk of the queue. */
function forward(from: net.Socket, to: net.Socket, delay: () => number): void {
  const queue: (() => void)[] = []
  const pass = (what: () => void) => {
    const wait = delay()
    if (wait === 0 && queue.length === 0) return what()
    queue.push(what)
    at(performance.now() + wait, () => queue.shift()!())
  }
  from.on('data', (data: Buffer) => pass(() => to.write(data)))
  from.on('error', () => {})
  from.on('close', () => pass(() => to.destroySoon()))
}

/** Runs the work within microseconds of its time: a timer alone is up to 1 ms late, and a request passes here a dozen times. */
function at(due: number, work: () => void): void {
  const left = due - performance.now()
  if (left <= 0) work()
  else if (left < 1) setImmediate(at, due, work)
  else setTimeout(at, left - 1, due, work)
}
