/** Files that appear whole or not at all: written beside their place, flushed, and renamed when all are there (contract 8.1). */
import * as fs from 'node:fs'
import path from 'node:path'

export interface Written {
  /** Absolute. */
  file: string
  /** A function is asked when it is this file's turn: large ones need not be held together. */
  contents: Uint8Array | string | (() => Uint8Array | string | Iterable<string>)
  /** Default: 0o644. */
  mode?: number
}

/** A write that is cut off, or that finds the disk full, leaves every one of the files as it was. Renamed in this order. */
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

/** Removes what an earlier build left in a folder. */
export function keepOnly(folder: string, names: ReadonlySet<string>): void {
  for (const name of fs.readdirSync(folder)) {
    if (!names.has(name)) fs.rmSync(path.join(folder, name), { recursive: true, force: true })
  }
}
