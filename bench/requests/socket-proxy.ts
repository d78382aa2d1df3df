/** The proxy that the neon driver needs before a Postgres that is not Neon's: it takes the bytes out of a WebSocket. */
import net from 'node:net'
import { createWebSocketStream, WebSocketServer } from 'ws'

export interface SocketProxy {
  port: number
  close(): void
}

export async function startSocketProxy(upstreamPort: number): Promise<SocketProxy> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
  server.on('connection', (socket) => {
    const upstream = net.connect({ host: '127.0.0.1', port: upstreamPort, noDelay: true })
    const stream = createWebSocketStream(socket)
    for (const end of [upstream, stream]) end.on('error', () => {})
    stream.pipe(upstream).pipe(stream)
  })
  await new Promise<void>((resolve) => server.once('listening', resolve))
  return {
    port: server.address().port,
    close() {
      for (const client of server.clients) client.terminate()
      server.close()
    },
  }
}
