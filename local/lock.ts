/**
 * `.stack/processes.json`, the lock of this folder: one stack at a time. It also lists the workerd processes of that stack. A
 * workerd whose stack was killed keeps its port, so the next start ends it while its process id still names the same process.
 */
import * as fs from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeWhole } from '../build/emit/write.ts'
import { type Process, processes } from './processes.ts'

/** Longest wait, in milliseconds, for the end of a workerd that was killed. SIGKILL takes effect at once, unless the machine is overloaded. */
const killMs = 5_000

interface Lock {
  stack: Process
  workerd: Process[]
}

/** Another process that still runs holds the lock. */
export class LockHeld extends Error {
  override name = 'LockHeld'

  constructor(pid: number) {
    super(`process ${pid} is starting this stack, or hangs: wait for it, or end it`)
  }
}

/** Takes the lock for this process. @returns whether a left-over workerd was ended. @throws LockHeld */
export async function acquireLock(file: string): Promise<boolean> {
  const lock = read(file)
  const isRunning = (one: Process) => processes().some(({ pid, began }) => pid === one.pid && began === one.began)
  if (lock && lock.stack.pid !== process.pid && isRunning(lock.stack)) throw new LockHeld(lock.stack.pid)
  const left = lock?.workerd.filter(isRunning) ?? []
  for (const { pid } of left) process.kill(pid, 'SIGKILL')
  for (let waited = 0; left.some(isRunning) && waited < killMs; waited += 20) await sleep(20)
  const stack = processes().find(({ pid }) => pid === process.pid)
  if (stack) writeWhole(file, JSON.stringify({ stack, workerd: [] } satisfies Lock))
  return left.length > 0
}

/** Notes in the lock which workerd processes this process has started. */
export function noteWorkerd(file: string): void {
  const lock = read(file)
  const workerd = processes().filter(({ parent, command }) => parent === process.pid && /\bworkerd\b/.test(command))
  if (lock) writeWhole(file, JSON.stringify({ ...lock, workerd } satisfies Lock))
}

/** @returns the process that holds the lock and still runs. */
export function lockHolder(file: string): number | undefined {
  const stack = read(file)?.stack
  return processes().find(({ pid, began }) => pid === stack?.pid && began === stack.began)?.pid
}

export function releaseLock(file: string): void {
  fs.rmSync(file, { force: true })
}

function read(file: string): Lock | undefined {
  try {
    const lock = JSON.parse(fs.readFileSync(file, 'utf8')) as Partial<Lock> | null
    return lock?.stack && Array.isArray(lock.workerd) ? (lock as Lock) : undefined
  } catch {
    return undefined
  }
}
