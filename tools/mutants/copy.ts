/** A private copy of the repository, in which changes are made: the tree of the user is never touched. */
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { trackedFiles } from '../tracked.ts'

export interface Copy {
  root: string
  /** Temporary files of the tests. */
  temporary: string
  /** Makes one change. @returns a function that takes it back. */
  change(file: string, before: string, after: string): () => void
  remove(): void
}

/** Copies every tracked file, and links the installed packages. @param name distinguishes copies that are used at the same time. */
export function copyRepository(root: string, name: string): Copy {
  const identity = createHash('sha256').update(root).digest('hex').slice(0, 8)
  const folder = path.join(os.tmpdir(), `stack-mutants-${identity}-${name}`)
  const copy = path.join(folder, 'copy')
  const temporary = path.join(folder, 'tmp')
  for (const stale of [
    temporary,
    ...(fs.existsSync(copy) ? fs.readdirSync(copy) : []).map((one) => path.join(copy, one)),
  ])
    if (path.basename(stale) !== 'node_modules') fs.rmSync(stale, { recursive: true, force: true })
  fs.mkdirSync(copy, { recursive: true })
  fs.mkdirSync(temporary, { recursive: true })
  for (const file of trackedFiles(root)) {
    const to = path.join(copy, file)
    fs.mkdirSync(path.dirname(to), { recursive: true })
    fs.copyFileSync(path.join(root, file), to)
  }
  linkPackages(root, copy)
  return {
    root: copy,
    temporary,
    change(file, before, after) {
      const absolute = path.join(copy, file)
      const text = fs.readFileSync(absolute, 'utf8')
      fs.writeFileSync(
        absolute,
        text.replace(before, () => after),
      )
      return () => fs.writeFileSync(absolute, text)
    },
    remove: () => fs.rmSync(folder, { recursive: true, force: true }),
  }
}

/** Packages are linked file by file, because a link to the whole folder would lead imports back to the user's tree. */
function linkPackages(root: string, copy: string): void {
  const stamp = path.join('node_modules', '.package-lock.json')
  const installed = fs.readFileSync(path.join(root, stamp))
  const own = path.join(copy, stamp)
  if (fs.existsSync(own) && fs.readFileSync(own).equals(installed)) return
  fs.rmSync(path.join(copy, 'node_modules'), { recursive: true, force: true })
  linkFolder(path.join(root, 'node_modules'), path.join(copy, 'node_modules'))
  fs.copyFileSync(path.join(root, stamp), own) // last: a copy that was interrupted is made anew
}

function linkFolder(from: string, to: string): void {
  fs.mkdirSync(to, { recursive: true })
  for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
    // caches and the lock are written in place, which would change the user's files
    if (/^\.(?:vite|vitest|cache|package-lock)/.test(entry.name)) continue
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)]
    if (entry.isDirectory()) linkFolder(source, target)
    else if (entry.isSymbolicLink()) fs.symlinkSync(fs.readlinkSync(source), target)
    else linkFile(source, target)
  }
}

function linkFile(source: string, target: string): void {
  try {
    fs.linkSync(source, target)
  } catch {
    fs.copyFileSync(source, target) // the folder for temporary files lies on another disk
  }
}
