/** The sources of a project as they are on the disk, parsed once for each version of a file. */
import * as fs from 'node:fs'
import path from 'node:path'
import { sourcesBelow } from './listing.ts'
import { emptyFile, parse, type SourceFile } from './project.ts'

export interface Sources {
  root: string
  /** Absolute paths of every source below the entry's folder, sorted (contract 1.8). */
  listed: readonly string[]
  isListed(absolute: string): boolean
  /** The file's model, read now if it was not yet; an empty one with its `failure` where it cannot be read. */
  read(absolute: string): SourceFile
  /** The text that the model is of: what is on the disk may be another by now. */
  textOf(absolute: string): string
  /** Every file that was read, absolute. */
  absolutes(): string[]
  /** Forgets of every model what only reading needs: what bundling needs stays. */
  trim(): void
  /** Whether it was read already. */
  isRead(absolute: string): boolean
  /** Whether it is the newest model of its file. */
  isCurrent(file: SourceFile): boolean
  /** Offsets at which the lines of any file begin. */
  lineStartsOf(absolute: string): readonly number[]
  /** Its path from the root, with `/`. */
  nameOf(absolute: string): string
  /**
   * Forgets what has changed on the disk. @param touched absolute paths of all that has.
   * @returns whether a file has come or gone.
   */
  refresh(touched: ReadonlySet<string>): boolean
}

interface Version {
  file: SourceFile
  text: string
}

/** @param root absolute. @param folder absolute: the entry's. */
export function openSources(root: string, folder: string): Sources {
  const versions = new Map<string, Version>()
  const current = new Set<SourceFile>()
  let listed = sourcesBelow(folder)
  let known = new Set(listed)

  function nameOf(absolute: string): string {
    const name = absolute.startsWith(root + path.sep) ? absolute.slice(root.length + 1) : path.relative(root, absolute)
    return path.sep === '/' ? name : name.split(path.sep).join('/')
  }

  function read(absolute: string): SourceFile {
    const before = versions.get(absolute)
    if (before) return before.file
    const version = readVersion(absolute)
    versions.set(absolute, version)
    current.add(version.file)
    return version.file
  }

  /** One file that cannot be read must not keep the others from being judged. */
  function readVersion(absolute: string): Version {
    const name = nameOf(absolute)
    let text: string
    try {
      text = withoutMark(fs.readFileSync(absolute, 'utf8'))
    } catch (error) {
      return { file: { ...emptyFile(name, [0]), failure: { reason: reasonOf(error), isOfSystem: true } }, text: '' }
    }
    try {
      return { file: parse(name, text), text }
    } catch (error) {
      return {
        file: { ...emptyFile(name, lineStartsIn(text)), failure: { reason: reasonOf(error), isOfSystem: false } },
        text,
      }
    }
  }

  return {
    root,
    get listed() {
      return listed
    },
    isListed: (absolute) => known.has(absolute),
    read,
    textOf(absolute) {
      read(absolute)
      return versions.get(absolute)!.text
    },
    absolutes: () => [...versions.keys()],
    trim() {
      for (const { file } of versions.values()) {
        for (const decorator of file.decorators) decorator.arguments = []
        file.constants.clear()
        for (const list of [file.classes, file.uses, file.earlyCalls, file.namedImports]) list.length = 0
      }
    },
    isRead: (absolute) => versions.has(absolute),
    isCurrent: (file) => current.has(file),
    lineStartsOf(absolute) {
      const version = versions.get(absolute)
      if (version) return version.file.lineStarts
      const text = fs.existsSync(absolute) ? withoutMark(fs.readFileSync(absolute, 'utf8')) : ''
      return lineStartsIn(text)
    },
    nameOf,
    refresh(touched) {
      let hasSetChanged = false
      for (const absolute of touched) {
        const version = versions.get(absolute)
        if (version) {
          versions.delete(absolute)
          current.delete(version.file)
        }
        hasSetChanged ||= !version || !fs.existsSync(absolute)
      }
      if (!hasSetChanged) return false
      const before = known
      listed = sourcesBelow(folder)
      known = new Set(listed)
      return before.size !== known.size || [...touched].some((absolute) => before.has(absolute) !== known.has(absolute))
    },
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

export function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}
