/** What a server does of a job, and what it uses for it. */
import type { Job } from './client.ts'
import type { Sender } from './threads.ts'
import { cpuMs, isTold } from './usage.ts'

/** All of a job but where it goes. */
export type Requests = Omit<Job & { what: 'send' }, 'what' | 'port'>

export interface Load {
  requestsPerSecond: number
  /** Of the server, for one of them; 0 where nobody tells. */
  cpuMs: number
  /** Of a single answer. */
  fastestMs: number
  medianMs: number
  /** How much of the time the sending thread was at work: 1 means that it is what was measured. */
  busy: number
}

export async function load(
  sender: Sender,
  { port, pid }: { port: number; pid: number },
  requests: Requests,
): Promise<Load> {
  const { count } = requests
  const before = isTold ? cpuMs(pid) : 0
  const { milliseconds, fastestMs, medianMs, busy } = await sender.run({ what: 'send', port, ...requests })
  const used = isTold ? cpuMs(pid) - before : 0
  return { requestsPerSecond: (count * 1000) / milliseconds, cpuMs: used / count, fastestMs, medianMs, busy }
}
