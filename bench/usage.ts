/** What a process has used so far, as Linux tells it; elsewhere nobody asks. */
import * as fs from 'node:fs'

export const isTold = fs.existsSync('/proc/self/schedstat')

/**
 * To the nanosecond, where the process' own clock has ticks of ten milliseconds. A thread that ended takes its time along:
 * what is measured here keeps its threads.
 * @returns milliseconds of its threads, in their own code and in the kernel's for them.
 */
export function cpuMs(pid: number): number {
  const threads = fs.readdirSync(`/proc/${pid}/task`)
  const used = threads.map((thread) => fs.readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8'))
  return used.reduce((sum, text) => sum + Number.parseInt(text, 10), 0) / 1e6
}

/** @returns what of it is in memory. */
export function residentMebibytes(pid: number): number {
  return Number(/^VmRSS:\s*(\d+) kB/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}
