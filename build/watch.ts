/** Builds a project again at every change: first the worker, then the documents that need the type checker (contract 8.6). */
import path from 'node:path'
import { type FSWatcher, watch } from 'chokidar'
import { Compiler, type WorkerResult } from './compiler.ts'
import { FollowUp } from './follow-up.ts'
import type { BuildOptions, Built } from './options.ts'
import type { Refusal } from './refusals/index.ts'
import type { StepOptions } from './steps.ts'
import { WatchedFiles } from './watched-files.ts'

export type Outcome =
  | { kind: 'built'; refusals: Refusal[]; built: Built; milliseconds: number }
  | { kind: 'refused'; refusals: Refusal[]; milliseconds: number }
  /** The declared files cannot be read, or another error has no place in the source. */
  | { kind: 'failed'; error: Error }

/** `client.d.ts`, `client.js` and `openapi.json` of the last build. */
export type DocumentsOutcome =
  /** `refusals` are the warnings that only the documents draw. `milliseconds` counts from the beginning of the build. */
  | { kind: 'documented'; refusals: Refusal[]; milliseconds: number }
  /** The files of the earlier build are left as they were. */
  | { kind: 'not-documented'; error: Error }

export interface WatchOptions {
  /** Absolute. */
  root: string
  /** Reads the declared files as they are now. @throws when they cannot be read. */
  target: () => BuildOptions
  /** Runs after each build, when the worker is written. The next build waits for it. @param changed absolute paths. */
  onOutcome: (outcome: Outcome, changed: readonly string[]) => void | Promise<void>
  /** Runs when the documents of a build are written, unless a newer build came first. @param changed absolute paths. */
  onDocuments?: (outcome: DocumentsOutcome, changed: readonly string[]) => void | Promise<void>
  /** Runs for changes of files that a running stack reads itself: `.dev.vars` and migrations. */
  onStackFiles?: (changed: readonly string[]) => void | Promise<void>
}

export interface Watch {
  /** Resolves when no documents are left to be written. */
  documented(): Promise<void>
  /** Resolves when a running build has ended. Documents that are not written yet are left as they were. */
  close(): Promise<void>
}

/** Time in milliseconds without a change before a build begins, because an editor saves a file in several steps. */
const settleMs = 15

/** Builds now, and then at every change. Resolves when the first worker is built and changes are seen. */
export async function watchProject(options: WatchOptions): Promise<Watch> {
  const watcher = new ProjectWatcher(options)
  await watcher.start()
  return { documented: () => watcher.documented(), close: () => watcher.close() }
}

class ProjectWatcher {
  readonly #options: WatchOptions
  readonly #files: WatchedFiles
  readonly #watcher: FSWatcher
  readonly #documents = new FollowUp()
  /** Changes that no build has seen yet, as absolute paths. */
  readonly #touched = new Set<string>()
  #compiler: { options: string; is: Compiler } | undefined
  #timer: NodeJS.Timeout | undefined
  #running = Promise.resolve()

  constructor(options: WatchOptions) {
    this.#options = options
    const { root } = options
    this.#files = new WatchedFiles(root)
    const out = outOf(options)
    this.#watcher = watch(root, {
      ignoreInitial: true,
      ignored(file) {
        const name = path.relative(root, file)
        const isInstalled = /(?:^|[\\/])(?:node_modules|\.git|\.wrangler)(?:[\\/]|$)/.test(name)
        return isInstalled || name.split(path.sep)[0] === '.stack' || file === out || file.startsWith(out + path.sep)
      },
    })
  }

  async start(): Promise<void> {
    this.#watcher.on('all', (event, file) => {
      if (event === 'addDir' || event === 'unlinkDir') return
      const absolute = path.resolve(file)
      // A file that is written all the time, like a log, must neither start a build nor delay the build of an edit.
      if (!this.#files.isOfBuild(absolute, event !== 'change') && !this.#files.isOfStack(absolute)) return
      this.#touched.add(absolute)
      this.#schedule()
    })
    await new Promise<void>((resolve) => this.#watcher.once('ready', resolve))
    this.#running = this.#running.then(() => this.#build(new Set()))
    await this.#running
  }

  documented(): Promise<void> {
    return this.#documents.idle()
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#files.close()
    this.#documents.cancel()
    await this.#watcher.close()
    await this.#running
    this.#documents.cancel()
    await this.#documents.idle()
    await this.#compiler?.is.close()
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#running = this.#running.then(() => this.#handleChanges())
    }, settleMs)
  }

  async #handleChanges(): Promise<void> {
    const changed = new Set(this.#touched)
    this.#touched.clear()
    if (changed.size === 0) return
    const ofStack = [...changed].filter((file) => this.#files.isOfStack(file))
    if (ofStack.length > 0) await this.#options.onStackFiles?.(ofStack)
    if ([...changed].some((file) => this.#files.nameOf(file) !== '.dev.vars')) await this.#build(changed)
  }

  async #build(changed: ReadonlySet<string>): Promise<void> {
    const began = performance.now()
    const { onOutcome } = this.#options
    this.#documents.pause()
    this.#files.begin(changed, (missed) => {
      for (const file of missed) this.#touched.add(file)
      if (this.#touched.size > 0) this.#schedule()
    })
    try {
      const { refusals, built, writeDocuments } = await this.#emit(changed)
      const milliseconds = performance.now() - began
      if (!built) await onOutcome({ kind: 'refused', refusals, milliseconds }, [...changed])
      else {
        this.#observe(built.inputs)
        this.#files.setBuilt(built.inputs)
        await onOutcome({ kind: 'built', refusals, built, milliseconds }, [...changed])
        if (writeDocuments) this.#follow(writeDocuments, [...changed], began)
      }
    } catch (error) {
      await onOutcome({ kind: 'failed', error: error as Error }, [...changed])
    } finally {
      this.#documents.resume()
    }
  }

  async #emit(changed: ReadonlySet<string>): Promise<WorkerResult> {
    const options = this.#options.target()
    this.#files.setEntry(options.entry)
    const key = JSON.stringify(options)
    if (this.#compiler?.options !== key) {
      await this.#compiler?.is.close()
      this.#compiler = { options: key, is: new Compiler(options) }
    }
    const compiler = this.#compiler.is
    const { refusals, linked } = compiler.check(changed)
    this.#observe(compiler.reads())
    this.#files.setChecked()
    return linked ? compiler.emitWorker({ refusals, linked }) : { refusals, built: undefined }
  }

  /** Writes the documents of a build behind it. */
  #follow(write: NonNullable<WorkerResult['writeDocuments']>, changed: readonly string[], began: number): void {
    const documentsOf = async (options: StepOptions): Promise<DocumentsOutcome | undefined> => {
      try {
        const written = await write(options)
        if (!written) return undefined
        this.#observe(written.inputs)
        this.#files.addInputs(written.inputs)
        return { kind: 'documented', refusals: written.refusals, milliseconds: performance.now() - began }
      } catch (error) {
        return { kind: 'not-documented', error: error as Error }
      }
    }
    this.#documents.replace(async (options) => {
      const outcome = await documentsOf(options)
      if (outcome) await this.#options.onDocuments?.(outcome, changed)
    })
  }

  /** Notes files that the build has read, and watches those outside the root. */
  #observe(files: readonly string[]): void {
    const outside = this.#files.add(files)
    if (outside.length > 0) this.#watcher.add(outside)
  }
}

/** The output folder, in which nothing counts as a change. */
function outOf({ target, root }: WatchOptions): string {
  try {
    return target().out
  } catch {
    return path.join(root, '.stack') // The first build reports why the declared files cannot be read.
  }
}
