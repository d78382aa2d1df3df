/** The processes of this machine. */
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'

export interface Process {
  pid: number
  parent: number
  /** The start time in the system's format. Together with the id it names one process, also after the id is used again. */
  began: string
  command: string
}

/** @returns whether a process with this id runs. A zombie does not. */
export function isAlive(pid: number): boolean {
  if (process.platform === 'linux') return processAt(String(pid)).length > 0
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Reads /proc on Linux, where `ps` may be missing. Returns none on Windows, where child processes end with their parent. */
export function processes(): Process[] {
  if (process.platform === 'win32') return []
  if (process.platform === 'linux') return fs.readdirSync('/proc').flatMap(processAt)
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,lstart=,args='], { encoding: 'utf8' }).split('\n')
  return lines.flatMap((line) => {
    const [pid, parent, ...rest] = line.trim().split(/\s+/)
    if (!pid) return []
    return [
      { pid: Number(pid), parent: Number(parent), began: rest.slice(0, 5).join(' '), command: rest.slice(5).join(' ') },
    ]
  })
}

function processAt(name: string): Process[] {
  if (!/^\d+$/.test(name)) return []
  try {
    const stat = fs.readFileSync(`/proc/${name}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ') // from the third field on
    if (fields[0] === 'Z') return [] // a zombie: its parent has not collected it
    const command = fs.readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')
    return [{ pid: Number(name), parent: Number(fields[1]), began: fields[19]!, command }]
  } catch {
    return [] // the process ended meanwhile
  }
}
