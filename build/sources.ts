/** The sources of a project as they are on the disk, parsed once for each version of a file. */
import * as fs from 'node:fs'
import path from 'node:path'
import { sourcesBelow } from './listing.ts'
import { parse } from './project.ts'
import { emptyFile, type SourceFile } from './source-file.ts'

/** The texts that were read, as they are at one moment. A later change on the disk does not show here. */
export interface SourceTexts {
  /** The text of a file that was read. `undefined` for every other file. */
  textOf(absolute: string): string | undefined
  /** Offsets at which the lines of a file begin. */
  lineStartsOf(absolute: string): readonly number[]
}

interface Version {
  file: SourceFile
  text: string
}

export class Sources {
  /** Absolute. */
  readonly root: string
  /** Absolute path of the entry's folder. */
  readonly #folder: string
  readonly #versions = new Map<string, Version>()
  readonly #current = new Set<SourceFile>()
  #listed: string[]
  #listedSet: ReadonlySet<string>

  /** @param root absolute. @param folder absolute path of the entry's folder. */
  constructor(root: string, folder: string) {
    this.root = root
    this.#folder = folder
    this.#listed = sourcesBelow(folder)
    this.#listedSet = new Set(this.#listed)
  }

  /** Absolute paths of every source below the entry's folder, sorted (contract 1.8). */
  get listed(): readonly string[] {
    return this.#listed
  }

  isListed(absolute: string): boolean {
    return this.#listedSet.has(absolute)
  }

  /** The file's data, read now unless it was read before. A file that cannot be read is empty and has a `failure`. */
  read(absolute: string): SourceFile {
    return this.#versionOf(absolute).file
  }

  /** The text that `read` parsed. The file on the disk may have changed since. */
  textOf(absolute: string): string {
    return this.#versionOf(absolute).text
  }

  isRead(absolute: string): boolean {
    return this.#versions.has(absolute)
  }

  /** `file` is the newest version of its file. */
  isCurrent(file: SourceFile): boolean {
    return this.#current.has(file)
  }

  /** Absolute paths of all files that were read. */
  absolutes(): string[] {
    return [...this.#versions.keys()]
  }

  /** Offsets at which the lines of any file begin. */
  lineStartsOf(absolute: string): readonly number[] {
    const version = this.#versions.get(absolute)
    if (version) return version.file.lineStarts
    const text = fs.existsSync(absolute) ? withoutMark(fs.readFileSync(absolute, 'utf8')) : ''
    return lineStartsIn(text)
  }

  /** The file's path from the root, with `/`. */
  nameOf(absolute: string): string {
    const { root } = this
    const name = absolute.startsWith(root + path.sep) ? absolute.slice(root.length + 1) : path.relative(root, absolute)
    return path.sep === '/' ? name : name.split(path.sep).join('/')
  }

  /** The texts as they are now, for work that goes on while files change. */
  snapshot(): SourceTexts {
    const versions = new Map(this.#versions)
    return {
      textOf: (absolute) => versions.get(absolute)?.text,
      lineStartsOf: (absolute) => versions.get(absolute)?.file.lineStarts ?? this.lineStartsOf(absolute),
    }
  }

  /** Frees the data that only `read/` needs. The bundle needs decorators, texts and imports, which stay. */
  trim(): void {
    for (const { file } of this.#versions.values()) {
      for (const decorator of file.decorators) decorator.arguments = []
      file.constants.clear()
      for (const list of [file.classes, file.uses, file.earlyCalls, file.namedImports]) list.length = 0
    }
  }

  /**
   * Forgets the given files, so that they are read again.
   * @param touched absolute paths of all files that have changed.
   * @returns whether a file has come or gone.
   */
  refresh(touched: ReadonlySet<string>): boolean {
    let mayHaveComeOrGone = false
    for (const absolute of touched) {
      const version = this.#versions.get(absolute)
      if (version) {
        this.#versions.delete(absolute)
        this.#current.delete(version.file)
      }
      mayHaveComeOrGone ||= !version || !fs.existsSync(absolute)
    }
    if (!mayHaveComeOrGone) return false
    const before = this.#listedSet
    this.#listed = sourcesBelow(this.#folder)
    const now = new Set(this.#listed)
    this.#listedSet = now
    return before.size !== now.size || [...touched].some((absolute) => before.has(absolute) !== now.has(absolute))
  }

  #versionOf(absolute: string): Version {
    const known = this.#versions.get(absolute)
    if (known) return known
    const version = this.#readVersion(absolute)
    this.#versions.set(absolute, version)
    this.#current.add(version.file)
    return version
  }

  /** Never throws: a file that cannot be read must not keep the other files from being checked. */
  #readVersion(absolute: string): Version {
    const name = this.nameOf(absolute)
    let text: string
    try {
      text = withoutMark(fs.readFileSync(absolute, 'utf8'))
    } catch (error) {
      return { file: { ...emptyFile(name, [0]), failure: { reason: reasonOf(error), isOfSystem: true } }, text: '' }
    }
    try {
      return { file: parse(name, text), text }
    } catch (error) {
      const failure = { reason: reasonOf(error), isOfSystem: false }
      return { file: { ...emptyFile(name, lineStartsIn(text)), failure }, text }
    }
  }
}

function lineStartsIn(text: string): number[] {
  return [0, ...[...text.matchAll(/\r\n|[\n\r\u2028\u2029]/g)].map(({ index, 0: end }) => index + end.length)]
}

/** The first line of an error's message. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n')[0]!
}

/** The text without a byte order mark. */
export function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}
