/** Files that appear whole or not at all: written beside their place, flushed, renamed (contract 8.1). */
import * as fs from 'node:fs'
import path from 'node:path'

/** A write that is cut off, or that finds the disk full, leaves what stood there before. */
export function writeWhole(file: string, contents: Uint8Array | string, mode = 0o644): void {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  const beside = `${file}.${process.pid}.tmp`
  try {
    const handle = fs.openSync(beside, 'w', mode)
    try {
      fs.writeFileSync(handle, contents)
      fs.fsyncSync(handle)
    } finally {
      fs.closeSync(handle)
    }
    fs.renameSync(beside, file)
  } catch (error) {
    fs.rmSync(beside, { force: true })
    throw error
  }
}

/** Makes a folder hold exactly these files; `last` is replaced after all others, for it refers to them. */
export function writeFolder(
  folder: string,
  files: readonly { name: string; contents: Uint8Array }[],
  last: string,
): void {
  const ordered = [...files].sort((a, b) => Number(a.name === last) - Number(b.name === last))
  for (const { name, contents } of ordered) writeWhole(path.join(folder, name), contents)
  const names = new Set(files.map(({ name }) => name))
  for (const name of fs.readdirSync(folder)) {
    if (!names.has(name)) fs.rmSync(path.join(folder, name), { recursive: true, force: true })
  }
}
