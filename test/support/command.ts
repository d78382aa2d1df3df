/** Runs the command line in another process, with its output and its exit code. */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import path from 'node:path'
import { onTestFinished } from 'vitest'

export const packageRoot = path.resolve(import.meta.dirname, '../..')

export interface Finished {
  code: number | null
  stdout: string
  stderr: string
}

export interface Running {
  child: ChildProcess
  /** Resolves when the text has appeared in either stream, after the given length of `output()`. */
  seen(text: string, timeoutMs?: number, from?: number): Promise<void>
  output(): string
  finished: Promise<Finished>
}

export interface CommandOptions {
  cwd?: string
  env?: Record<string, string>
  /** Written to standard input, which is closed then. Without it, standard input is closed from the start. */
  input?: string | Uint8Array
}

/** Starts `stack …` through the launcher. The process ends with the test. */
export function start(args: string[], { cwd = packageRoot, env = {}, input }: CommandOptions = {}): Running {
  return startProcess(process.execPath, [path.join(packageRoot, 'bin/stack.cjs'), ...args], cwd, env, input)
}

/** Runs `stack …` until it ends. */
/** Runs `stack …` until it ends. */
export function stack(args: string[], options?: CommandOptions): Promise<Finished> {
  return start(args, options).finished
}

/** Starts a process that ends with the test. */
/** Starts a process that ends with the test. */
export function startProcess(
  file: string,
  args: string[],
  cwd: string,
  env: Record<string, string> = {},
  input?: string | Uint8Array | null,
): Running {
  // With CI set, Node disables colour even on a terminal, and the tests of colour would see another output.
  const { INIT_CWD: _npm, FORCE_COLOR: _colour, CI: _ci, ...inherited } = process.env
  const stdio: StdioOptions = [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe']
  const child = spawn(file, args, { cwd, env: { ...inherited, ...env }, stdio })
  child.stdin?.on('error', () => {}) // a command that refuses its arguments ends without reading
  if (input !== null) child.stdin?.end(input) // `null` leaves it open for the test
  let stdout = ''
  let stderr = ''
  const waiting = new Set<() => void>()
  const changed = () => {
    for (const check of waiting) check()
  }
  child.stdout!.on('data', (chunk) => {
    stdout += chunk
    changed()
  })
  child.stderr!.on('data', (chunk) => {
    stderr += chunk
    changed()
  })
  const finished = new Promise<Finished>((resolve) => {
    child.on('close', (code) => {
      resolve({ code, stdout, stderr })
      changed()
    })
  })
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    await finished
  })
  return {
    child,
    finished,
    output: () => stdout + stderr,
    seen(text, timeoutMs = 20_000, from = 0) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const check = () => {
        if ((stdout + stderr).slice(from).includes(text)) resolve()
        else if (child.exitCode !== null) reject(new Error(`ended before "${text}" was seen:\n${stdout}${stderr}`))
      }
      const timer = setTimeout(() => reject(new Error(`"${text}" was not seen:\n${stdout}${stderr}`)), timeoutMs)
      waiting.add(check)
      check()
      return promise.finally(() => {
        clearTimeout(timer)
        waiting.delete(check)
      })
    },
  }
}
