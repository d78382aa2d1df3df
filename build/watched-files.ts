/** Tells which files of a project concern its build, and finds changes that chokidar did not report. */
import * as fs from 'node:fs'
import path from 'node:path'

/** Kinds of files that an import may lead to, beside TypeScript. */
const importable = /\.(?:[cm]?jsx?|json|wasm|txt|css)$/

/**
 * Time in milliseconds from the beginning of a build to the second look at its files. chokidar reports a file at most once
 * in 50 ms, so a second write within that time would be missed.
 */
const secondLookMs = 100

export class WatchedFiles {
  readonly #root: string
  /** Files of the last successful build. They may be of any kind, and lie outside the project. */
  #inputs: ReadonlySet<string> = new Set()
  /** Files outside the root that builds have read, without those of packages. None is removed. */
  #outside: ReadonlySet<string> = new Set()
  /** Absolute path of the entry's folder. */
  #entryFolder: string | undefined
  #isSound = false
  /** Modification time and size of each file, as they were before the last build read it. */
  #stamps = new Map<string, string>()
  #timer: NodeJS.Timeout | undefined

  /** @param root absolute. */
  constructor(root: string) {
    this.#root = root
  }

  /** The path from the root, with `/`. */
  nameOf(file: string): string {
    return path.relative(this.#root, file).split(path.sep).join('/')
  }

  /** A running stack reads these files itself: `.dev.vars` and migrations. */
  isOfStack(file: string): boolean {
    return /^(?:\.dev\.vars|migrations\/[^/]+\.sql)$/.test(this.nameOf(file))
  }

  /**
   * Whether the build may depend on a file. Files other than sources count if the last build read them, or if an import
   * that leads nowhere may mean them.
   * @param hasComeOrGone the file was not there before, or is not there now.
   */
  isOfBuild(file: string, hasComeOrGone: boolean): boolean {
    if (this.#inputs.has(file) || this.#outside.has(file)) return true
    const name = this.nameOf(file)
    if (/^stack\/(?:(?:project|roles)|templates\/[^/]+)\.json$|^migrations\/[^/]+\.sql$/.test(name)) return true
    if (/\.[cm]?tsx?$|(?:^|\/)(?:package|tsconfig[^/]*)\.json$/.test(name)) return true
    const isBelowEntry = this.#entryFolder !== undefined && file.startsWith(this.#entryFolder + path.sep)
    return importable.test(name) && (isBelowEntry ? hasComeOrGone || !this.#isSound : hasComeOrGone && !this.#isSound)
  }

  /**
   * A build begins. After a while the files are compared with what they are now.
   * @param onMissed gets the files that have changed since.
   */
  begin(changed: ReadonlySet<string>, onMissed: (files: string[]) => void): void {
    const files = new Set([...changed, ...this.#stamps.keys()])
    this.#stamps = new Map([...files].map((file) => [file, stampOf(file)]))
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      const missed = [...this.#stamps].filter(([file, stamp]) => stampOf(file) !== stamp)
      onMissed(missed.map(([file]) => file))
    }, secondLookMs)
  }

  /** @param entry the file that exports the root module, relative to the root. */
  setEntry(entry: string): void {
    this.#entryFolder = path.dirname(path.resolve(this.#root, entry))
  }

  /** Nothing is known to be sound until `setBuilt`. */
  setChecked(): void {
    this.#isSound = false
  }

  /** @param inputs absolute paths of all files that decided the build. */
  setBuilt(inputs: readonly string[]): void {
    this.#inputs = new Set(inputs)
    this.#isSound = true
  }

  /**
   * Notes files that were read. Packages are left out: they change with an installation, not with an edit.
   * @returns the new files that do not lie below the root.
   */
  add(files: readonly string[]): string[] {
    for (const file of files) {
      if (!this.#stamps.has(file) && !file.includes('node_modules')) this.#stamps.set(file, stampOf(file))
    }
    const isPackage = (file: string) => file.includes(`${path.sep}node_modules${path.sep}`)
    const outside = files.filter((file) => !file.startsWith(this.#root + path.sep) && !isPackage(file))
    const added = outside.filter((file) => !this.#outside.has(file))
    this.#outside = new Set([...this.#outside, ...added])
    return added
  }

  /** Adds files that decided the documents of the last build. */
  addInputs(inputs: readonly string[]): void {
    this.#inputs = new Set([...this.#inputs, ...inputs])
  }

  close(): void {
    clearTimeout(this.#timer)
  }
}

function stampOf(file: string): string {
  const found = fs.statSync(file, { throwIfNoEntry: false })
  return found ? `${found.mtimeMs} ${found.size}` : 'gone'
}
