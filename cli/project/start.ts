/** `stack start`: the local stack until Ctrl-C (contract 10.1, 10.5). */
import path from 'node:path'
import { LockHeld } from '../../local/lock.ts'
import { createLogPrinter, type LogPrinter } from '../../local/log.ts'
import { PortTaken } from '../../local/ports.ts'
import { type LocalStack, Refused, RunsAlready, startStack } from '../../local/start.ts'
import type { WatchOptions } from '../../local/watch.ts'
import { Failure } from '../shared/failure.ts'
import { devVars, locateProject } from '../shared/project.ts'
import { renderRefusals } from '../shared/refusals.ts'
import { untilInterrupted } from '../shared/signals.ts'
import { changeJson, changeText } from './changes.ts'
import { fixCommandOf } from './fix-command.ts'
import { readyText, withoutPassword } from './ready.ts'

export interface StartFlags {
  project?: string
  port?: number
  json?: boolean
  fresh?: boolean
}

export async function runStart({ project: named, port, json = false, fresh = false }: StartFlags): Promise<void> {
  const located = locateProject(named)
  // The reader of an output may end first. The stack goes on then, and ends in order.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const { root, project, roles, templates } = located
  process.stderr.write(`${project.project}/local\n`)
  const outs = { backend: path.join(root, '.stack/out'), auth: path.join(root, '.stack/auth-local/out') }
  const print = createLogPrinter(outs, process.stderr)
  const log = createLog(print, json)
  const interruption = new AbortController()
  const interrupted = untilInterrupted(() => interruption.abort())
  const variables = devVars(root)
  let stack: LocalStack
  try {
    stack = await startStack(
      {
        ...{ root, project, roles, templates, variables, port, fresh },
        watch: watchOptions(root, named, print, json),
        say: (line) => process.stderr.write(`  ${line}\n`),
        onLog: log.write,
      },
      interruption.signal,
    )
  } catch (error) {
    if (interruption.signal.aborted)
      throw new Failure('interrupted', 'interrupted: everything that was started is ended')
    if (error instanceof RunsAlready) return printRunning(error, json, fresh || port !== undefined)
    throw failureOf(error, root, named)
  }
  if (json) process.stdout.write(`${JSON.stringify({ ...stack.record, times: stack.times })}\n`)
  else process.stderr.write(readyText(located, stack, variables))
  print.reload() // the bundles were written after the printer was made
  log.open()
  await interrupted
  process.stderr.write('\nstopping …\n')
  await stack.stop()
  process.stderr.write('everything that was started is ended\n')
}

/** The log on stdout as JSON, or on stderr as text. Lines that come before the stack is ready are held back until `open`. */
function createLog(print: LogPrinter, json: boolean): { write(line: string): void; open(): void } {
  const held: string[] = []
  let isOpen = false
  const write = (line: string) => {
    if (!isOpen) return void held.push(line)
    if (json) return void process.stdout.write(`${jsonLine(line)}\n`)
    const printed = print(line)
    if (printed !== undefined) process.stderr.write(`${printed}\n`)
  }
  return {
    write,
    open() {
      isOpen = true
      for (const line of held.splice(0)) if (!isOfStart(line)) write(line)
    },
  }
}

function watchOptions(root: string, named: string | undefined, print: LogPrinter, json: boolean): WatchOptions {
  return {
    declared: () => ({ ...locateProject(named), variables: devVars(root) }),
    onChange(change, changed) {
      if (change.kind === 'built') print.reload() // stacks name lines of the bundle that serves now
      if (json) process.stdout.write(`${JSON.stringify(changeJson(change, changed, root))}\n`)
      else process.stderr.write(changeText(change, changed, root))
    },
  }
}

function failureOf(error: unknown, root: string, named: string | undefined): unknown {
  if (error instanceof Refused) {
    const { refusals } = error.result
    const consequence = 'nothing was migrated, and nothing is running'
    return new Failure('refused', renderRefusals(root, refusals, { consequence, fixCommand: fixCommandOf(named) }))
  }
  if (error instanceof PortTaken) return new Failure('port taken', `${error.message}: name another with --port`)
  if (error instanceof LockHeld) return new Failure('no stack', error.message)
  return new Failure('refused', `error: ${(error as Error).message}`)
}

/** @param isSpecial a flag asks for a stack that only a new start could give. */
function printRunning({ record, message }: RunsAlready, json: boolean, isSpecial: boolean): void {
  if (isSpecial) throw new Failure('no stack', `${message}, on ${record.base_url}: end it first`)
  if (json) process.stdout.write(`${JSON.stringify(record)}\n`)
  else
    process.stderr.write(
      `  ${message}\n  API       ${record.base_url}\n  Postgres  ${withoutPassword(record.database_url)}\n`,
    )
}

/** Wraps a line that is no JSON object, such as one of the project's own console.log, in one that is. */
function jsonLine(line: string): string {
  try {
    if (typeof JSON.parse(line) === 'object') return line
  } catch {}
  return JSON.stringify({ level: 'info', message: line })
}

/** Whether a line that was logged during the start is about the requests of the start itself. */
function isOfStart(line: string): boolean {
  return line.includes('"worker":"front"') || line.includes('"worker":"auth"')
}
