/** The Durable Objects that keep a worker's connections to Postgres (contract 5.4), as the worker and `stack serve` know them. */

/** Number of Durable Objects that share the pool's connections. Each is single-threaded, so two of them can work at the same time. */
export const poolObjects = 2

/** @returns the name by which a worker finds one of the objects. @param index from 0 to `poolObjects` - 1. */
export function poolName(index: number): string {
  return `pool-${index}`
}

/** The connections of one Durable Object to one login. */
export interface PoolCounts {
  /** Largest number of connections. */
  size: number
  /** Connections that are open or being opened. */
  open: number
  /** Open connections that no transaction uses. */
  unused: number
  /** Requests that wait for a connection. */
  waiting: number
}
