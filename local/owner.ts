/**
 * `.stack/processes.json`: which processes hold this folder. One stack at a time; and a workerd whose stack was killed
 * keeps its port until the next start ends it, by its number, while that number still names the same process.
 */
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeWhole } from '../build/emit/write.ts'

const endMs = 5_000

interface Process {
  pid: number
  parent: number
  /** When it began, in the system's own words: with the number, it names one process for ever. */
  began: string
  command: string
}

interface Held {
  stack: Process
  workerd: Process[]
}

/** The folder is held by a stack that still runs. */
export class HeldBy extends Error {
  override name = 'HeldBy'
  readonly pid: number

  constructor(pid: number) {
    super(`process ${pid} is starting this stack, or hangs: wait for it, or end it`)
    this.pid = pid
  }
}

/** Takes the folder for this process. @returns whether a left-over workerd was ended. @throws HeldBy */
export async function claim(file: string): Promise<boolean> {
  const running = processes()
  const held = read(file)
  const isRunning = (one: Process) => running.some(({ pid, began }) => pid === one.pid && began === one.began)
  if (held && held.stack.pid !== process.pid && isRunning(held.stack)) throw new HeldBy(held.stack.pid)
  const left = held?.workerd.filter(isRunning) ?? []
  for (const { pid } of left) process.kill(pid, 'SIGKILL')
  for (let waited = 0; left.length > 0 && waited < endMs; waited += 20) {
    const still = processes()
    if (!left.some((one) => still.some(({ pid, command }) => pid === one.pid && command !== ''))) break
    await sleep(20)
  }
  const stack = running.find(({ pid }) => pid === process.pid)
  if (stack) writeWhole(file, JSON.stringify({ stack, workerd: [] } satisfies Held))
  return left.length > 0
}

/** Notes which workerd this process has started. */
export function noteWorkerd(file: string): void {
  const held = read(file)
  const workerd = processes().filter(({ parent, command }) => parent === process.pid && /\bworkerd\b/.test(command))
  if (held) writeWhole(file, JSON.stringify({ ...held, workerd } satisfies Held))
}

export function release(file: string): void {
  fs.rmSync(file, { force: true })
}

function read(file: string): Held | undefined {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')) as Held
  } catch {
    return undefined
  }
}

/** From /proc where there is one: a small Linux has no ps. None on Windows, where a job ends with its owner. */
function processes(): Process[] {
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
    const command = fs.readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')
    return [{ pid: Number(name), parent: Number(fields[1]), began: fields[19]!, command }]
  } catch {
    return [] // it ended meanwhile
  }
}
