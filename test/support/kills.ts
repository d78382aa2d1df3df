/** Processes that are killed at moments that are spread over a whole run of a command. */
import { type ChildProcess, spawn } from 'node:child_process'
import * as fs from 'node:fs'
import path from 'node:path'
import { packageRoot } from './command.ts'

/** Number of kills of a command. `STACK_KILLS=100` raises it; the default keeps a file of tests below a minute. */
export function killsOf(byDefault: number): number {
  return Number(process.env['STACK_KILLS'] ?? byDefault)
}

export interface Killed {
  words: readonly string[]
  cwd: string
  env?: Record<string, string>
  /** Written to standard input. */
  input?: string
  /** Absolute path of the folder in which the command writes first. Absent where it writes no file. */
  writesIn?: string | undefined
}

/** When a process is killed: some milliseconds after its start, or after it has begun its first file. */
export type Moment = { afterStartMs: number } | { afterWriteMs: number }

/**
 * The moments of a number of kills. Every second one is spread evenly over the run. The others fall into the time in which the files
 * are written, which is a small part of a run.
 *
 * @param runMs duration of a whole run. @param writeMs duration of its writing, rather too long than too short. Without it all moments are
 * spread over the run.
 */
export function momentsOf(count: number, runMs: number, writeMs?: number): Moment[] {
  return Array.from({ length: count }, (_, index) => {
    const part = (index + Math.random()) / count
    return index % 2 === 0 || writeMs === undefined ? { afterStartMs: part * runMs } : { afterWriteMs: part * writeMs }
  })
}

/** Starts `stack …` and kills it. @returns whether it was killed before it ended by itself. */
export function killAt({ words, cwd, env = {}, input, writesIn }: Killed, moment: Moment): Promise<boolean> {
  const { INIT_CWD: _npm, ...inherited } = process.env
  const child = spawn(process.execPath, [path.join(packageRoot, 'bin/stack.cjs'), ...words], {
    cwd,
    env: { ...inherited, ...env },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.stdin.on('error', () => {}) // a process that was killed reads no input
  child.stdin.end(input)
  const forget = whenReached(child, moment, writesIn)
  return new Promise((resolve) => {
    child.once('exit', (_code, signal) => {
      forget()
      resolve(signal === 'SIGKILL')
    })
  })
}

function whenReached(child: ChildProcess, moment: Moment, folder: string | undefined): () => void {
  const kill = () => void child.kill('SIGKILL')
  if ('afterStartMs' in moment) {
    const timer = setTimeout(kill, moment.afterStartMs)
    return () => clearTimeout(timer)
  }
  if (folder === undefined) throw new Error('a command that writes no file has no such moment')
  let timer: NodeJS.Timeout | undefined
  fs.mkdirSync(folder, { recursive: true })
  const watcher = fs.watch(folder, (_event, name) => {
    if (name?.endsWith('.tmp')) timer ??= setTimeout(kill, moment.afterWriteMs)
  })
  return () => {
    watcher.close()
    clearTimeout(timer)
  }
}

/** What the files of a command are after a kill. */
export type Remains = 'old' | 'new' | 'between'

/** Counts of kills by what they left. With `STACK_KILLS` they are printed, because a run with many kills is read by a person. */
export function createCounts(name: string) {
  const counts: Record<Remains | 'ended before its kill', number> = {
    old: 0,
    new: 0,
    between: 0,
    'ended before its kill': 0,
  }
  return {
    add(remains: Remains, wasKilled: boolean): void {
      counts[wasKilled ? remains : 'ended before its kill']++
    },
    print(): void {
      if (process.env['STACK_KILLS'] === undefined) return
      const text = Object.entries(counts).map(([what, count]) => `${count} ${what}`)
      process.stderr.write(`${name}: ${text.join(', ')}\n`)
    },
  }
}
