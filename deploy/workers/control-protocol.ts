/** The requests of the parent process to a workerd over its control socket, as JSON. Both sides import it. */
import type { PoolCounts } from '../../src/wire/pool.ts'

/** Requests that had the same labels. */
export interface RequestSeries {
  worker: 'backend' | 'auth'
  method: string
  /** `2xx`, `4xx` … */
  status: string
  /** The path of the route, like `/orders/:id`, or `other` where none fits. */
  route: string
  count: number
  /** Sum of the durations, in seconds. */
  seconds: number
  /** Number of requests for each of `durationBounds`: those that took at most that long, and longer than the bound before. */
  buckets: number[]
}

/** The connections of a worker to one login of the database, in all its pool objects. */
export interface PoolSeries extends PoolCounts {
  worker: 'backend' | 'auth'
  /** The binding that holds the login's URL. */
  binding: string
}

/** Answer of `GET /metrics`. */
export interface ProcessMetrics {
  inFlight: number
  series: RequestSeries[]
  /** Without the logins that no request has needed yet. */
  pools: PoolSeries[]
}

/** Upper bounds of the histogram in seconds. Longer requests are counted by `count` alone. */
export const durationBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Body of `POST /scheduled`. */
export interface ScheduledCall {
  worker: 'backend' | 'auth'
  cron: string
  /** RFC 3339. */
  time: string
}

/** A route as the front labels requests by it. */
export interface FrontRoute {
  worker: 'backend' | 'auth'
  method: string
  path: string
}

/** The front's settings, a binding of JSON. */
export interface FrontSettings {
  routes: FrontRoute[]
  /** Addresses and networks (`10.0.0.0/8`) of proxies whose `x-forwarded-for` is believed. */
  trusted: string[]
  /** Writes a line for each request. */
  logsRequests: boolean
}
