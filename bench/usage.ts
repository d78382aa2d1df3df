/** CPU time and memory of a process, as Linux reports them. Other systems are not asked. */
import * as fs from 'node:fs'

/** Whether this system reports the CPU time of a process. */
export const reportsCpu = fs.existsSync('/proc/self/schedstat')

/**
 * Reads the time of each thread, which counts nanoseconds, whereas the clock of the process has ticks of 10 ms. The time of a
 * thread that ended is missing, but the measured processes keep their threads.
 * @returns milliseconds of all threads, in their own code and in the kernel.
 */
export function cpuMs(pid: number): number {
  const threads = fs.readdirSync(`/proc/${pid}/task`)
  const used = threads.map((thread) => fs.readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8'))
  return used.reduce((sum, text) => sum + Number.parseInt(text, 10), 0) / 1e6
}

/** @returns the resident set of a process. */
export function residentMebibytes(pid: number): number {
  return Number(/^VmRSS:\s*(\d+) kB/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}
