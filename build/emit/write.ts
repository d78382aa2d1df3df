/** Writes files whole or not at all: beside their place, flushed, and renamed when all of them are there (contract 8.1). */
import * as fs from 'node:fs'
import path from 'node:path'

export interface Written {
  /** Absolute. */
  file: string
  /** A function is called when the file is written, so that large contents are not held in memory together. */
  contents: Uint8Array | string | (() => Uint8Array | string | Iterable<string>)
  /** Permissions of the file. Default: 0o644. */
  mode?: number
}

/** A write that is interrupted, or finds the disk full, leaves all the files as they were. They are renamed in the given order. */
export function writeTogether(files: readonly Written[]): void {
  const beside = files.map(({ file }) => `${file}.${process.pid}.tmp`)
  try {
    files.forEach(({ file, contents, mode = 0o644 }, index) => {
      fs.mkdirSync(path.dirname(file), { recursive: true })
      const handle = fs.openSync(beside[index]!, 'w', mode)
      try {
        const made = typeof contents === 'function' ? contents() : contents
        if (typeof made === 'string' || made instanceof Uint8Array) fs.writeFileSync(handle, made)
        else for (const part of made) fs.writeFileSync(handle, part)
        fs.fsyncSync(handle)
      } finally {
        fs.closeSync(handle)
      }
    })
    files.forEach(({ file }, index) => {
      fs.renameSync(beside[index]!, file)
    })
  } catch (error) {
    for (const file of beside) fs.rmSync(file, { force: true })
    throw error
  }
}

export function writeWhole(file: string, contents: string, mode?: number): void {
  writeTogether([{ file, contents, ...(mode === undefined ? {} : { mode }) }])
}

/** Removes the files that an earlier build left in a folder. */
export function keepOnly(folder: string, names: ReadonlySet<string>): void {
  for (const name of fs.readdirSync(folder)) {
    if (!names.has(name)) fs.rmSync(path.join(folder, name), { recursive: true, force: true })
  }
}
