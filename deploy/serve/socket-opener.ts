/**
 * Opens listening sockets and hands them to the parent, then ends. A process of its own does it, because Node accepts on each socket
 * that it has begun to listen on, and the parent only keeps these for workerd.
 *
 * Arguments: host, port, number of sockets, and `shared` where they share the port by SO_REUSEPORT: the kernel spreads connections.
 */
import net from 'node:net'

const [host = '', port = '0', count = '1', sharing] = process.argv.slice(2)

function open(at: number): Promise<net.Server> {
  const server = net.createServer()
  const { promise, resolve, reject } = Promise.withResolvers<net.Server>()
  server.once('error', reject)
  server.listen({ host, port: at, backlog: 4096, exclusive: true, reusePort: sharing === 'shared' }, () =>
    resolve(server),
  )
  return promise
}

/** The socket itself: a `net.Server` would accept in the parent. */
function handleOf(server: net.Server): unknown {
  return (server as unknown as { _handle: unknown })._handle
}

try {
  let at = Number(port)
  for (let index = 0; index < Number(count); index++) {
    const server = await open(at)
    at = (server.address() as net.AddressInfo).port
    await new Promise((resolve) => process.send!({ port: at }, handleOf(server) as net.Server, {}, resolve))
  }
  process.send!({ isDone: true }, () => process.exit(0))
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException
  process.send!({ code: code ?? '', message }, () => process.exit(1))
}
