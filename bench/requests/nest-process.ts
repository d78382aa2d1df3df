/** Starts and ends the NestJS peer. */
import type { PlainRoute } from '../build/routes-200.ts'
import { type Server, startNodePeer } from '../node-peer.ts'

export interface NestOptions {
  pem: string
  issuer: string
  audience: string
  otherRoutes: PlainRoute[]
}

/** Resolves when the peer listens. */
export function startNest(options: NestOptions): Promise<Server> {
  return startNodePeer(new URL('./nest.ts', import.meta.url), options)
}
