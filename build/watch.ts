/** A project that is built again at every change: diagnostics first, then the bundle (contract 8.6). */
import * as fs from 'node:fs'
import path from 'node:path'
import { watch } from 'chokidar'
import { type Compiler, openCompiler } from './compiler.ts'
import type { BuildOptions, Built } from './index.ts'
import type { Refusal } from './refusals/index.ts'

export type Outcome =
  | { kind: 'built'; refusals: Refusal[]; built: Built; milliseconds: number }
  | { kind: 'refused'; refusals: Refusal[]; milliseconds: number }
  /** The declared files cannot be read, or something else is wrong that has no place in the source. */
  | { kind: 'failed'; error: Error }

export interface WatchOptions {
  /** Absolute. */
  root: string
  /** What is to be built, as the declared files say it now. @throws when they cannot be read. */
  target: () => BuildOptions
  /** The next build waits for it. @param changed absolute paths. */
  onOutcome: (outcome: Outcome, changed: readonly string[]) => void | Promise<void>
  /** Told of changes that only a running stack takes up: `.dev.vars` and migrations. */
  onOther?: (changed: readonly string[]) => void | Promise<void>
}

export interface Watch {
  /** Resolves when a running build has ended. */
  close(): Promise<void>
}

/** An editor writes in several steps: what changes within this time is one change. */
const settleMs = 15

/** chokidar tells of a file once in 50 ms: what was written again meanwhile is found by a look at the files themselves. */
const lookAgainMs = 100

/** What an import may lead to beside TypeScript. */
const importable = /\.(?:[cm]?jsx?|json|wasm|txt|css)$/

/** Builds now, and then at every change. Resolves when the first build is done and changes are seen. */
export async function watchProject({ root, target, onOutcome, onOther }: WatchOptions): Promise<Watch> {
  let compiler: { options: string; is: Compiler } | undefined
  let outside: ReadonlySet<string> = new Set()
  /** What the last build read, and the last one that succeeded: they may be of any kind. */
  let inputs: ReadonlySet<string> = new Set()
  let isSound = false
  const touched = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let lookAgain: NodeJS.Timeout | undefined
  let stamps = new Map<string, string>()
  let running = Promise.resolve()

  /** The entry's. */
  let folder: string | undefined
  const out = outOf(target, root)
  const isIgnored = (file: string) => {
    const name = path.relative(root, file)
    const isInstalled = /(?:^|[\\/])(?:node_modules|\.git|\.wrangler)(?:[\\/]|$)/.test(name)
    return isInstalled || name.split(path.sep)[0] === '.stack' || file === out || file.startsWith(out + path.sep)
  }
  const watcher = watch(root, { ignored: isIgnored, ignoreInitial: true })
  watcher.on('all', (event, file) => {
    if (event === 'addDir' || event === 'unlinkDir') return
    const absolute = path.resolve(file)
    // what is written all the time, like a log, must neither build nor put off the build of an edit
    if (!isOfBuild(absolute, event !== 'change') && !isOther(absolute)) return
    touched.add(absolute)
    schedule()
  })
  await new Promise<void>((resolve) => watcher.once('ready', resolve))
  running = running.then(() => run(new Set()))
  await running

  return {
    async close() {
      clearTimeout(timer)
      clearTimeout(lookAgain)
      await watcher.close()
      await running
      await compiler?.is.close()
    },
  }

  function schedule(): void {
    clearTimeout(timer)
    timer = setTimeout(() => {
      running = running.then(cycle)
    }, settleMs)
  }

  /** Every file that was part of the last build, and what was there of it before it was read. */
  function look(files: Iterable<string>): void {
    stamps = new Map([...files].map((file) => [file, stampOf(file)]))
    clearTimeout(lookAgain)
    lookAgain = setTimeout(() => {
      for (const [file, stamp] of stamps) if (stampOf(file) !== stamp) touched.add(file)
      if (touched.size > 0) schedule()
    }, lookAgainMs)
  }

  async function cycle(): Promise<void> {
    const changed = new Set(touched)
    touched.clear()
    if (changed.size === 0) return
    const others = [...changed].filter(isOther)
    if (others.length > 0) await onOther?.(others)
    if ([...changed].some((file) => nameOf(file) !== '.dev.vars')) await run(changed)
  }

  function nameOf(file: string): string {
    return path.relative(root, file).split(path.sep).join('/')
  }

  function isOther(file: string): boolean {
    return /^(?:\.dev\.vars|migrations\/[^/]+\.sql)$/.test(nameOf(file))
  }

  /**
   * Files of other kinds count where the last build read them, or where an import that leads nowhere may mean them.
   * @param hasComeOrGone the file was not there before, or is not there now.
   */
  function isOfBuild(file: string, hasComeOrGone: boolean): boolean {
    if (inputs.has(file) || outside.has(file)) return true
    const name = nameOf(file)
    if (/^stack\/(?:project|roles)\.json$|^migrations\/[^/]+\.sql$/.test(name)) return true
    if (/\.[cm]?tsx?$|(?:^|\/)(?:package|tsconfig[^/]*)\.json$/.test(name)) return true
    const isBelowEntry = folder !== undefined && file.startsWith(folder + path.sep)
    return importable.test(name) && (isBelowEntry ? hasComeOrGone || !isSound : hasComeOrGone && !isSound)
  }

  async function run(changed: ReadonlySet<string>): Promise<void> {
    const began = performance.now()
    look(new Set([...changed, ...stamps.keys()]))
    try {
      const options = target()
      folder = path.dirname(path.resolve(root, options.entry))
      const key = JSON.stringify(options)
      if (compiler?.options !== key) {
        await compiler?.is.close()
        compiler = { options: key, is: openCompiler(options) }
      }
      const { refusals, linked } = compiler.is.check(changed)
      observe(compiler.is.reads())
      isSound = false
      const result = linked ? await compiler.is.emit({ refusals, linked }) : { refusals, built: undefined }
      const milliseconds = performance.now() - began
      if (result.built) {
        observe(result.built.inputs)
        inputs = new Set(result.built.inputs)
        isSound = true
      }
      await onOutcome(
        result.built
          ? { kind: 'built', refusals: result.refusals, built: result.built, milliseconds }
          : { kind: 'refused', refusals: result.refusals, milliseconds },
        [...changed],
      )
    } catch (error) {
      await onOutcome({ kind: 'failed', error: error as Error }, [...changed])
    }
  }

  /** What the bundle is made of: looked at again, and observed where it does not lie below the root. */
  function observe(inputs: readonly string[]): void {
    for (const file of inputs) if (!stamps.has(file) && !file.includes('node_modules')) stamps.set(file, stampOf(file))
    const found = inputs.filter(
      (file) => !file.startsWith(root + path.sep) && !file.includes(`${path.sep}node_modules${path.sep}`),
    )
    const added = found.filter((file) => !outside.has(file))
    outside = new Set([...outside, ...added])
    if (added.length > 0) watcher.add(added)
  }
}

/** Where is written what must not be taken for a change. */
function outOf(target: () => BuildOptions, root: string): string {
  try {
    return target().out
  } catch {
    return path.join(root, '.stack') // the first build will say what is wrong
  }
}

function stampOf(file: string): string {
  const found = fs.statSync(file, { throwIfNoEntry: false })
  return found ? `${found.mtimeMs} ${found.size}` : 'gone'
}
