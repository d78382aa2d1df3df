/** Writes files whole or not at all: beside their place, flushed, and renamed when all of them are there (contract 8.1). */
import * as fs from 'node:fs'
import path from 'node:path'
import { finishJournal, finishRenames, unwrittenJournal, writeJournal } from './journal.ts'
import { NotWritten } from './not-written.ts'

export interface Written {
  /** Absolute. */
  file: string
  /** A function is called when the file is written, so that large contents are not held in memory together. */
  contents: Uint8Array | string | (() => Uint8Array | string | Iterable<string>)
  /** Permissions of the file. Default: 0o644. */
  mode?: number
}

export interface FolderChange {
  /** Absolute path of the folder that holds all the files. Its journal names the renames until they are made. */
  folder: string
  /** Absolute paths of files in the folder that are removed with the renames. */
  removed: readonly string[]
}

/**
 * A write that is interrupted, or finds the disk full, leaves all the files as they were. They are renamed in the given order.
 *
 * @param change of a folder whose files belong together: a process that is killed between two renames leaves a journal, and
 * `finishRenames` makes the others. Without it, a kill may leave some of the files new and some old.
 * @throws NotWritten
 */
export function writeTogether(files: readonly Written[], change?: FolderChange): void {
  if (change) finishRenames(change.folder) // those of another write must not follow these
  const journalFiles = change ? [path.join(change.folder, unwrittenJournal)] : []
  removeLeftovers([...files.map(({ file }) => file), ...journalFiles])
  const renames = files.map(({ file }) => ({ from: `${file}.${process.pid}.tmp`, to: file }))
  let current = change?.folder ?? ''
  let journal: string | undefined
  try {
    files.forEach((one, index) => {
      current = one.file
      writeFlushed(renames[index]!.from, one)
    })
    if (change) {
      current = change.folder
      journal = writeJournal(change.folder, { renames, removed: change.removed })
    } else {
      for (const { from, to } of renames) {
        current = to
        fs.renameSync(from, to)
      }
    }
  } catch (error) {
    for (const { from } of renames) fs.rmSync(from, { force: true })
    throw error instanceof Error && 'syscall' in error ? new NotWritten(current, error) : error
  }
  if (journal !== undefined) finishJournal(journal)
}

export function writeWhole(file: string, contents: string, mode?: number): void {
  writeTogether([{ file, contents, ...(mode === undefined ? {} : { mode }) }])
}

/** @returns absolute paths of what an earlier build left in a folder, beside the files of these names. */
export function staleIn(folder: string, names: ReadonlySet<string>): string[] {
  if (!fs.existsSync(folder)) return []
  return fs.readdirSync(folder).flatMap((name) => (names.has(name) ? [] : [path.join(folder, name)]))
}

function writeFlushed(beside: string, { file, contents, mode = 0o644 }: Written): void {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  const handle = fs.openSync(beside, 'w', mode)
  try {
    const made = typeof contents === 'function' ? contents() : contents
    if (typeof made === 'string' || made instanceof Uint8Array) fs.writeFileSync(handle, made)
    else for (const part of made) fs.writeFileSync(handle, part)
    fs.fsyncSync(handle)
  } finally {
    fs.closeSync(handle)
  }
}

/** Removes what a killed process has left beside the files. */
function removeLeftovers(files: readonly string[]): void {
  for (const folder of new Set(files.map((file) => path.dirname(file)))) {
    const written = new Set(files.filter((file) => path.dirname(file) === folder).map((file) => path.basename(file)))
    for (const name of fs.existsSync(folder) ? fs.readdirSync(folder) : []) {
      const [, file, pid] = /^(.+)\.(\d+)\.tmp$/.exec(name) ?? []
      if (written.has(file ?? '') && !isRunning(Number(pid))) fs.rmSync(path.join(folder, name), { force: true })
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
