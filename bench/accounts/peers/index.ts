/** Starts the peers: each in a Node process of its own, with a database of its own on the stack's Postgres. */
import { type Server, startNodePeer } from '../../node-peer.ts'

export interface PeerOptions {
  databaseUrl: string
  emails: string[]
  /** The password of every account. */
  password: string
  /** Number of sessions that are made before the start. */
  sessions: number
}

/** Its tokens are those of its sessions: cookies of better-auth, refresh tokens of oidc-provider. */
export type Peer = Server & { tokens: string[] }

export function startPeer(name: 'better-auth' | 'oidc-provider', options: PeerOptions): Promise<Peer> {
  return startNodePeer<{ port: number; tokens: string[] }>(new URL(`./${name}.ts`, import.meta.url), options)
}
