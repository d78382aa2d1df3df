/**
 * Follows imports between the sources of a project, and records which files and which resolutions an answer came from. A
 * watch keeps an answer for as long as all of these stay the same.
 */
import path from 'node:path'
import { sdkName } from './declaration.ts'
import type { Resolver } from './resolve.ts'
import type { SourceFile } from './source-file.ts'
import type { Sources } from './sources.ts'

/** The dependencies of an answer about one file, beside that file. */
export interface Dependencies {
  /** The versions of the files that were read. */
  files: SourceFile[]
  resolutions: Resolution[]
  /** The state of the file set (see `DependencyTracker.fileSet`) for which the resolutions are known to hold. */
  fileSet: number
}

/** `to` is the source that a specifier leads to, or whether it leads to any file at all. */
interface Resolution {
  from: SourceFile
  specifier: string
  to: string | boolean | undefined
}

export class DependencyTracker {
  readonly #sources: Sources
  #resolver: Resolver
  #fileSet = 0
  #files = new Set<SourceFile>()
  #resolutions = new Map<string, Resolution>()

  constructor(sources: Sources, resolver: Resolver) {
    this.#sources = sources
    this.#resolver = resolver
  }

  /** Grows when a file came or went: from then on an import may lead to another file. */
  get fileSet(): number {
    return this.#fileSet
  }

  /** @param hasFileSetChanged a file came or went. */
  useResolver(resolver: Resolver, hasFileSetChanged: boolean): void {
    this.#resolver = resolver
    if (hasFileSetChanged) this.#fileSet++
  }

  absoluteOf(file: SourceFile): string {
    return path.join(this.#sources.root, file.path)
  }

  /** Absolute path of the source that an import leads to. The source is not read. */
  sourceOf(from: SourceFile, specifier: string): string | undefined {
    const to = this.#resolver.source(this.absoluteOf(from), specifier)
    this.#resolutions.set(`${from.path}\0${specifier}`, { from, specifier, to })
    return to
  }

  /** Whether an import leads to a file, or to an installed package. */
  leadsToFile(from: SourceFile, specifier: string): boolean {
    if (specifier === sdkName) return true // The SDK is always this very copy (contract 1.8).
    const to = this.#resolver.leads(this.absoluteOf(from), specifier)
    this.#resolutions.set(`${from.path}\0${specifier}\0leads`, { from, specifier, to })
    return to
  }

  /** The source that an import leads to. */
  imported(from: SourceFile, specifier: string): SourceFile | undefined {
    const absolute = this.sourceOf(from, specifier)
    return absolute === undefined ? undefined : this.read(absolute)
  }

  read(absolute: string): SourceFile {
    const file = this.#sources.read(absolute)
    this.#files.add(file)
    return file
  }

  /** Runs `work`, and tells what its result depends on. */
  tracked<T>(work: () => T): { value: T } & Dependencies {
    const outer = { files: this.#files, resolutions: this.#resolutions }
    this.#files = new Set()
    this.#resolutions = new Map()
    try {
      const value = work()
      return { value, files: [...this.#files], resolutions: [...this.#resolutions.values()], fileSet: this.#fileSet }
    } finally {
      this.#files = outer.files
      this.#resolutions = outer.resolutions
    }
  }

  /** Whether the same work would give the same result now. */
  holds({ files, resolutions, fileSet }: Dependencies): boolean {
    if (!files.every((file) => this.#sources.isCurrent(file))) return false
    return fileSet === this.#fileSet || resolutions.every((one) => this.#resolvesAsBefore(one))
  }

  /** The same dependencies, after `holds` has shown that they hold now: the next `holds` need not resolve them again. */
  confirmed<T extends Dependencies>(before: T): T {
    return before.fileSet === this.#fileSet ? before : { ...before, fileSet: this.#fileSet }
  }

  #resolvesAsBefore({ from, specifier, to }: Resolution): boolean {
    const absolute = this.absoluteOf(from)
    if (typeof to === 'boolean') return this.#resolver.leads(absolute, specifier) === to
    return this.#resolver.source(absolute, specifier) === to
  }
}
