/** `stack build`: refusals and what was built, to stderr; stdout stays empty (contract 8, 10.1). */
import path from 'node:path'
import { buildCached } from '../build/cached.ts'
import { report } from '../build/emit/report.ts'
import { applyFixes } from '../build/fix.ts'
import type { Format } from '../build/formats.ts'
import type { BuildOptions } from '../build/index.ts'
import { authTarget, projectTarget } from '../build/targets.ts'
import { missingBindings } from './bindings.ts'
import { changedText } from './changes.ts'
import { Failure } from './failure.ts'
import { locateProject } from './project.ts'
import { printed } from './refusals.ts'
import { untilInterrupted } from './signals.ts'
import { version } from './version.ts'

export interface BuildFlags {
  project?: string
  out?: string
  format: Format
  fix?: boolean
  watch?: boolean
}

/** More rounds than fixes that wait for each other; a fix that mends nothing must not go on forever. */
const mostRounds = 50

export async function runBuild(flags: BuildFlags): Promise<void> {
  const { root } = locateProject(flags.project)
  const folder = flags.out === undefined ? undefined : path.resolve(process.env['INIT_CWD'] ?? process.cwd(), flags.out)
  const target = () => {
    const { project, roles } = locateProject(flags.project)
    return projectTarget(root, project, roles, folder)
  }
  const edited = flags.fix ? await fix(root, target(), flags.format) : []
  await (flags.watch ? watch(root, target, flags.format) : once(root, target(), flags.format, edited))
}

/** @param edited files that `--fix` has edited, relative to the project. */
async function once(root: string, target: BuildOptions, format: Format, edited: readonly string[]): Promise<void> {
  const began = performance.now()
  const { refusals, built } = await buildCached(target)
  const written = edited.length > 0 ? `--fix has edited ${listOf(edited)}; nothing else was written` : undefined
  process.stderr.write(printed(root, refusals, format, version, written))
  if (!built) throw new Failure('refused', '')
  await buildAuth(target)
  if (format !== 'text') return
  process.stderr.write(`${report(built.table, built.sizes, performance.now() - began)}\n`)
  process.stderr.write(missingBindings(root, target.out))
}

/** How many edited files are named; `fixed[…]` lines have named each of them. */
const mostNamed = 5

function listOf(files: readonly string[]): string {
  const rest = files.length - mostNamed
  return files.slice(0, mostNamed).join(', ') + (rest > 0 ? ` and ${rest} more` : '')
}

async function buildAuth({ out }: BuildOptions): Promise<void> {
  const auth = await buildCached(authTarget(path.join(out, 'auth')))
  if (!auth.built) throw new Error('the auth module does not build')
}

/** @returns the files that were edited, relative to the project. */
async function fix(root: string, target: BuildOptions, format: Format): Promise<string[]> {
  const say = (line: string) => format === 'text' && process.stderr.write(`${line}\n`) // the others are for machines
  const { openCompiler } = await import('../build/compiler.ts')
  const compiler = openCompiler(target)
  let count = 0
  const edited = new Set<string>()
  const done = new Set<string>()
  let touched = new Set<string>()
  try {
    for (let round = 0; round < mostRounds; round++) {
      // a file that was written in the same moment as it was read looks as it did
      const { fixed, changed } = applyFixes(root, compiler.check(touched).refusals, done)
      touched = changed
      for (const file of changed) edited.add(path.relative(root, file).split(path.sep).join('/'))
      if (fixed.length === 0) break
      count += fixed.length
      for (const { slug, fix, place } of fixed) {
        say(`fixed[${slug}]: ${place.file}:${place.line}:${place.column} ${fix}`)
      }
    }
  } finally {
    await compiler.close()
  }
  say(count === 0 ? 'nothing to fix that has one exact fix\n' : `${count} fixed\n`)
  return [...edited].sort()
}

async function watch(root: string, target: () => BuildOptions, format: Format): Promise<void> {
  const { watchProject } = await import('../build/watch.ts')
  const interrupted = untilInterrupted()
  const first = target()
  await buildAuth(first)
  const watching = await watchProject({
    root,
    target,
    onOutcome(outcome, changed) {
      if (changed.length > 0 && format === 'text') process.stderr.write(`\n${changedText(root, changed)}\n`)
      if (outcome.kind === 'failed') return void process.stderr.write(`error: ${outcome.error.message}\n`)
      process.stderr.write(printed(root, outcome.refusals, format, version))
      if (outcome.kind === 'built' && format === 'text') {
        const { table, sizes } = outcome.built
        process.stderr.write(`${report(table, sizes, outcome.milliseconds)}\n`)
      }
    },
  })
  if (format === 'text') process.stderr.write('\nwatching for changes; Ctrl-C ends it\n')
  await interrupted
  await watching.close().catch(() => {}) // a build that was under way has lost its bundler to the same signal
}
