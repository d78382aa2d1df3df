/** Ports on loopback. get-port finds one; it remembers what it gave out, so whether a certain one is free is asked here. */
import net from 'node:net'

const host = '127.0.0.1'

export function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const server = net.createServer()
  server.once('error', () => resolve(false))
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)))
  return promise
}
