/** The process that runs tests in the private copy, and its end with everything that it started. */
import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { processes } from '../../local/processes.ts'
import type { TestChoice } from './change.ts'
import type { Copy } from './copy.ts'

export interface Order {
  /** Absolute path of the test. */
  file: string
  name?: string
  /** Absolute paths of files whose text is another one than in the run before. */
  changed: string[]
}

export type Answer =
  | { outcome: 'ready' }
  | { outcome: 'passed'; tests: number }
  /** No test has the name, or all are skipped. */
  | { outcome: 'none' }
  | { outcome: 'failed'; test: string; message: string }
  | { outcome: 'timeout' }
  /** The process ended without an answer. */
  | { outcome: 'lost' }

export interface Runner {
  run(choice: TestChoice, changed: readonly string[], limitMs: number): Promise<Answer>
  stop(): Promise<void>
}

/** Environment variable by which the processes of a run are found, also after their parents have ended. */
const mark = 'STACK_MUTANTS_RUN'

export function createRunner(copy: Copy): Runner {
  const id = randomUUID()
  let child: ChildProcess | undefined
  const waiting: ((answer: Answer) => void)[] = []
  /** Files that the run before had changed: vitest must forget their text as well. */
  let before: readonly string[] = []

  async function start(): Promise<void> {
    child = fork(path.join(copy.root, 'tools/mutants/runner.thread.ts'), [], {
      cwd: copy.root,
      env: { ...process.env, TMPDIR: copy.temporary, [mark]: id },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    child.on('message', (answer: Answer) => waiting.shift()?.(answer))
    const lost = () => {
      for (const resolve of waiting.splice(0)) resolve({ outcome: 'lost' })
    }
    child.once('exit', lost)
    child.once('error', lost)
    await new Promise<Answer>((resolve) => waiting.push(resolve))
  }

  async function stop(): Promise<void> {
    waiting.length = 0
    child?.removeAllListeners()
    child?.kill('SIGKILL')
    child = undefined
    endAll(`${path.dirname(copy.root)}${path.sep}`, id)
    fs.rmSync(copy.temporary, { recursive: true, force: true })
    fs.mkdirSync(copy.temporary, { recursive: true })
  }

  return {
    async run({ file, name }, changed, limitMs) {
      if (!child) await start()
      const order: Order = {
        file: path.join(copy.root, file),
        ...(name === undefined ? {} : { name }),
        changed: [...new Set([...before, ...changed])].map((one) => path.join(copy.root, one)),
      }
      before = changed
      const { promise, resolve } = Promise.withResolvers<Answer>()
      waiting.push(resolve)
      const timer = setTimeout(() => resolve({ outcome: 'timeout' }), limitMs)
      child!.send(order)
      const answer = await promise
      clearTimeout(timer)
      const isBroken =
        answer.outcome === 'timeout' || answer.outcome === 'lost' || (answer.outcome === 'failed' && answer.test === '')
      if (isBroken) await stop()
      return answer
    },
    stop,
  }
}

/**
 * Ends every process whose command names the copy, as those of its binaries and of its temporary folders do. On Linux the mark in the
 * environment finds the others: Postgres overwrites its own environment, and scripts of other binaries do not name the copy.
 */
function endAll(folder: string, id: string): void {
  for (const { pid, command } of processes()) {
    if (pid === process.pid || !(command.includes(folder) || isMarked(pid, id))) continue
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // the process has ended meanwhile
    }
  }
}

function isMarked(pid: number, id: string): boolean {
  if (process.platform !== 'linux') return false
  try {
    return fs.readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`${mark}=${id}`)
  } catch {
    return false // the process has ended meanwhile, or belongs to another user
  }
}
