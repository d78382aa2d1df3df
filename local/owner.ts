/**
 * `.stack/processes.json`: which processes hold this folder. One stack at a time; and a workerd whose stack was killed
 * keeps its port until the next start ends it, by its number, while that number still names the same process.
 */
import * as fs from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeWhole } from '../build/emit/write.ts'
import { type Process, processes } from './processes.ts'

const endMs = 5_000

interface Held {
  stack: Process
  workerd: Process[]
}

/** The folder is held by a stack that still runs. */
export class HeldBy extends Error {
  override name = 'HeldBy'

  constructor(pid: number) {
    super(`process ${pid} is starting this stack, or hangs: wait for it, or end it`)
  }
}

/** Takes the folder for this process. @returns whether a left-over workerd was ended. @throws HeldBy */
export async function claim(file: string): Promise<boolean> {
  const held = read(file)
  const isRunning = (one: Process) => processes().some(({ pid, began }) => pid === one.pid && began === one.began)
  if (held && held.stack.pid !== process.pid && isRunning(held.stack)) throw new HeldBy(held.stack.pid)
  const left = held?.workerd.filter(isRunning) ?? []
  for (const { pid } of left) process.kill(pid, 'SIGKILL')
  for (let waited = 0; left.some(isRunning) && waited < endMs; waited += 20) await sleep(20)
  const stack = processes().find(({ pid }) => pid === process.pid)
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
    const held = JSON.parse(fs.readFileSync(file, 'utf8')) as Partial<Held> | null
    return held?.stack && Array.isArray(held.workerd) ? (held as Held) : undefined
  } catch {
    return undefined
  }
}
