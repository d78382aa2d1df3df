/** As much of it as is used: the package has no types of its own. */
declare module 'ws' {
  import type net from 'node:net'
  import type { Duplex } from 'node:stream'

  export class WebSocket {
    close(): void
  }
  export class WebSocketServer {
    constructor(options: { host: string; port: number; perMessageDeflate: boolean })
    on(event: 'connection', listener: (socket: WebSocket) => void): this
    once(event: 'listening', listener: () => void): this
    address(): net.AddressInfo
    close(): void
    readonly clients: Set<WebSocket & { terminate(): void }>
  }
  export function createWebSocketStream(socket: WebSocket): Duplex
}
