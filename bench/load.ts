/** Runs a job against a server, and measures its throughput and its CPU time. */
import type { Job } from './client.ts'
import type { Sender } from './threads.ts'
import { cpuMs, reportsCpu } from './usage.ts'

/** A job without the address of its server. */
export type Requests = Omit<Job & { what: 'send' }, 'what' | 'port'>

export interface Load {
  requestsPerSecond: number
  /** CPU time of the server for one request, in milliseconds. 0 where the system does not report it. */
  cpuMs: number
  /** Shortest time to an answer, in milliseconds. */
  fastestMs: number
  medianMs: number
  /** Share of the time in which the sending thread worked. At 1 the sender is the bottleneck. */
  busy: number
}

export async function load(
  sender: Sender,
  { port, pid }: { port: number; pid: number },
  requests: Requests,
): Promise<Load> {
  const { count } = requests
  const before = reportsCpu ? cpuMs(pid) : 0
  const { milliseconds, fastestMs, medianMs, busy } = await sender.run({ what: 'send', port, ...requests })
  const used = reportsCpu ? cpuMs(pid) - before : 0
  return { requestsPerSecond: (count * 1000) / milliseconds, cpuMs: used / count, fastestMs, medianMs, busy }
}
