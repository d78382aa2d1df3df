/** Sockets of Node as the Workers runtime has them, as far as the sender of mail uses them. Node's own types stay out of `src`. */
declare module 'node:net' {
  export interface Socket {
    once(event: 'error', listener: (error: Error) => void): this
    once(event: 'connect' | 'secureConnect', listener: () => void): this
    destroy(): void
  }
  export function connect(options: { host: string; port: number }): Socket
}

declare module 'node:tls' {
  import type { Socket } from 'node:net'
  export function connect(options: { host: string; port: number; servername: string }): Socket
}
