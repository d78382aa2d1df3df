/** The workers that answer the gated routes: one by hand, and the build's with a connection a request or with held ones. */
import path from 'node:path'
import { bundle } from '../bundle.ts'
import { startWorkerd, type Workerd, type WorkerModule } from '../workerd.ts'
import type { Database } from './database.ts'
import type { Issuer } from './issuer.ts'

export type Variant = 'byHand' | 'each' | 'held'

export interface GatedWorkers {
  /** Includes `held` where the bundle can hold connections. */
  variants: readonly Variant[]
  /**
   * Starts the workers for this work alone, and ends them after it.
   * @param ports the port of Postgres or of a proxy before it, and that of a proxy which takes its bytes in a WebSocket.
   */
  run(
    ports: { postgres: number; socket: number },
    work: (workers: Record<Variant, Workerd>) => Promise<void>,
  ): Promise<void>
}

/** The class that holds connections. Without its binding the build's worker opens one for each request. */
const poolClass = 'StackPool'

/** @param built the bundle of the project. */
export async function gatedWorkers(
  built: readonly WorkerModule[],
  issuer: Issuer,
  database: Database,
  keySetUrl: string,
): Promise<GatedWorkers> {
  const byHand = await bundle(path.join(import.meta.dirname, 'workers/gated-by-hand.ts'))
  const canHold = Buffer.from(built[0]!.contents).includes(poolClass)
  const variants: Variant[] = ['byHand', 'each', ...(canHold ? ['held' as const] : [])]
  return {
    variants,
    async run({ postgres, socket }, work) {
      const bindings = { ...issuer.bindings, CLAIMS_KEY: database.claimsKey }
      const ofBuilt = { ...bindings, DATABASE_URL: database.url(postgres), AUTH_JWKS_URL: keySetUrl }
      const ofByHand = { ...bindings, DATABASE_URL: database.url(socket), SIGNING_KEY: issuer.jwk }
      const start: Record<Variant, () => Promise<Workerd>> = {
        byHand: () => startWorkerd('/plain', byHand, ofByHand),
        each: () => startWorkerd('/plain', built, ofBuilt),
        held: () => startWorkerd('/plain', built, ofBuilt, [], { STACK_POOL: poolClass }),
      }
      const workers = {} as Record<Variant, Workerd>
      try {
        for (const variant of variants) workers[variant] = await start[variant]()
        await work(workers)
      } finally {
        await Promise.all(Object.values(workers).map((worker) => worker.stop()))
      }
    },
  }
}
