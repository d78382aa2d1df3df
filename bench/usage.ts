/** What a process has used so far, as Linux tells it; elsewhere nobody asks. */
import * as fs from 'node:fs'

export const isTold = fs.existsSync('/proc/self/stat')

/** Linux counts so, whatever its kernel's own clock. */
const ticksPerSecond = 100

/** @returns milliseconds of all its threads, in its own code and in the kernel's for it. */
export function cpuMs(pid: number): number {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ') // a name may hold anything
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond
}

/** @returns what of it is in memory. */
export function residentMebibytes(pid: number): number {
  return Number(/^VmRSS:\s*(\d+) kB/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}
