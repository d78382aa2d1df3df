/** `stack build`: prints refusals and the report on stderr. A format for machines has its refusals on stdout (contract 8, 10.1). */
import path from 'node:path'
import { buildCached } from '../../build/cached.ts'
import { report } from '../../build/emit/report.ts'
import { applyFixes } from '../../build/fix.ts'
import type { Format } from '../../build/formats.ts'
import type { BuildOptions } from '../../build/options.ts'
import type { Refusal } from '../../build/refusals/index.ts'
import { authTarget, projectTarget } from '../../build/targets.ts'
import type { Outcome } from '../../build/watch.ts'
import { Failure } from '../shared/failure.ts'
import { locateProject } from '../shared/project.ts'
import type { Printing } from '../shared/refusals.ts'
import { untilInterrupted } from '../shared/signals.ts'
import { version } from '../shared/version.ts'
import { workingDirectory } from '../shared/working-directory.ts'
import { missingBindings } from './bindings.ts'
import { fixCommandOf } from './fix-command.ts'

export interface BuildFlags {
  project?: string
  /** The environment of `stack/project.json` that the auth worker is built for. */
  env?: string
  out?: string
  format: Format
  fix?: boolean
  watch?: boolean
  json?: boolean
}

/** Largest number of rounds of `--fix`. Few fixes wait for another one, and a fix without effect must not loop for ever. */
const maxRounds = 50

/** Largest number of edited files that a sentence names: they fit on one line. */
const maxNamed = 5

export async function runBuild(flags: BuildFlags): Promise<void> {
  const { root } = locateProject(flags.project)
  const folder = flags.out === undefined ? undefined : path.resolve(workingDirectory(), flags.out)
  const target = () => {
    const { project, roles } = locateProject(flags.project)
    return projectTarget(root, project, roles, folder)
  }
  const plain: Printing = {
    format: flags.json ? 'json' : flags.format,
    version,
    fixCommand: fixCommandOf(flags.project),
  }
  const printing = flags.fix ? afterFix(plain, await fix(root, target())) : plain
  const hasDebugDevices = debugDevicesOf(flags)
  await (flags.watch
    ? watch(root, target, printing, plain, hasDebugDevices)
    : once(root, target(), printing, hasDebugDevices))
}

/** Only an environment that says so gets an auth worker with debug devices. @throws Failure for an unknown environment. */
function debugDevicesOf({ project: named, env }: BuildFlags): boolean {
  if (env === undefined) return false
  const { environments } = locateProject(named).project
  if (Object.hasOwn(environments, env)) return environments[env]!.debugDevices
  const names = Object.keys(environments).join(', ')
  throw new Failure('usage', `there is no environment "${env}": stack/project.json names ${names || 'none'}`)
}

/** After `--fix`, no remaining refusal has an exact fix, and a refused build has edited files. */
function afterFix(printing: Printing, edited: readonly string[]): Printing {
  const consequence = `nothing was built, and --fix has edited ${listed(edited)}`
  return { ...printing, fixCommand: '', ...(edited.length > 0 && { consequence }) }
}

async function once(root: string, target: BuildOptions, printing: Printing, hasDebugDevices: boolean): Promise<void> {
  const began = performance.now()
  const { refusals, built } = await buildCached(target)
  await print(root, refusals, printing)
  if (!built) throw new Failure('refused', '')
  await buildAuth(target, hasDebugDevices)
  process.stderr.write(`${report(built.table, built.sizes, performance.now() - began)}\n`)
  process.stderr.write(missingBindings(root, target.out))
}

/** The renderer is loaded only here: a build without changes and without refusals does not wait for it. */
async function print(root: string, refusals: readonly Refusal[], printing: Printing): Promise<void> {
  if (refusals.length === 0 && printing.format === 'text') return
  const { printRefusals } = await import('../shared/refusals.ts')
  await printRefusals(root, refusals, printing)
}

async function buildAuth({ out }: BuildOptions, hasDebugDevices: boolean): Promise<void> {
  const auth = await buildCached(authTarget(path.join(out, 'auth'), hasDebugDevices))
  if (!auth.built) throw new Error('the auth module does not build')
}

/** @returns the files that it has edited, relative to the project. */
async function fix(root: string, target: BuildOptions): Promise<string[]> {
  const say = (line: string) => process.stderr.write(`${line}\n`)
  const { Compiler } = await import('../../build/compiler.ts')
  const { harmless } = await import('../../build/columns.ts')
  const compiler = new Compiler(target)
  let count = 0
  const edited = new Set<string>()
  const done = new Set<string>()
  let touched = new Set<string>()
  try {
    for (let round = 0; round < maxRounds; round++) {
      // A file that is written within one tick of the clock looks unchanged, so the edited files are named.
      const { fixed, changed } = applyFixes(root, compiler.check(touched).refusals, done)
      touched = changed
      for (const file of changed) edited.add(path.relative(root, file).split(path.sep).join('/'))
      if (fixed.length === 0) break
      count += fixed.length
      for (const { slug, fix, place } of fixed) {
        say(harmless(`fixed[${slug}]: ${place.file}:${place.line}:${place.column} ${fix}`))
      }
    }
  } finally {
    await compiler.close()
  }
  say(count === 0 ? 'nothing to fix that has one exact fix\n' : `${count} fixed\n`)
  return [...edited].sort()
}

/** Lists file names in a sentence. Of many files only the first are named, because each fix was printed with its place. */
function listed(files: readonly string[]): string {
  const shown = files.slice(0, maxNamed)
  if (files.length > shown.length) return `${shown.join(', ')} and ${files.length - shown.length} more`
  const [last, ...others] = shown.toReversed()
  return others.length === 0 ? last! : `${others.toReversed().join(', ')} and ${last}`
}

/** @param printing of the first build, which may mention `--fix`. @param later of the builds that follow. */
async function watch(
  root: string,
  target: () => BuildOptions,
  printing: Printing,
  later: Printing,
  hasDebugDevices: boolean,
): Promise<void> {
  const { watchProject } = await import('../../build/watch.ts')
  const { changedText } = await import('./changes.ts')
  const { byPlace } = await import('../../build/refuse/index.ts')
  const interrupted = untilInterrupted()
  const first = target()
  await buildAuth(first, hasDebugDevices)
  /** A build whose worker is written, and whose documents are not. */
  let open: (Extract<Outcome, { kind: 'built' }> & { isFirst: boolean }) | undefined
  /** A build is reported when all of its files are written, or when a newer one has begun: it prints one set of refusals. */
  const reportBuilt = async (others: readonly Refusal[], milliseconds = open?.milliseconds ?? 0) => {
    if (!open) return
    const { refusals, built, isFirst } = open
    open = undefined
    await print(root, [...refusals, ...others].sort(byPlace), { ...(isFirst ? printing : later), isOneOfMany: true })
    process.stderr.write(`${report(built.table, built.sizes, milliseconds)}\n`)
  }
  const watching = await watchProject({
    root,
    target,
    async onOutcome(outcome, changed) {
      await reportBuilt([])
      const isFirst = changed.length === 0
      if (!isFirst) process.stderr.write(`\n${changedText(root, changed)}\n`)
      if (outcome.kind === 'failed') return void process.stderr.write(`error: ${outcome.error.message}\n`)
      if (outcome.kind === 'built') open = { ...outcome, isFirst }
      else await print(root, outcome.refusals, { ...(isFirst ? printing : later), isOneOfMany: true })
    },
    async onDocuments(outcome) {
      if (outcome.kind === 'documented') return reportBuilt(outcome.refusals, outcome.milliseconds)
      await reportBuilt([])
      process.stderr.write(`error: client.d.ts and openapi.json cannot be written: ${outcome.error.message}\n`)
    },
  })
  await watching.documented()
  process.stderr.write('\nwatching for changes until Ctrl-C\n')
  await interrupted
  await watching.close().catch(() => {}) // the same signal has ended the bundler of a running build
}
