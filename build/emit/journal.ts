/**
 * The journal of a folder whose files belong together, like a build: the renames that put new files in the place of old ones. It is
 * written when all new files are there, and removed when all renames are made. After a kill between two renames, the next command that
 * reads the folder makes the others. So a command sees the whole old build or the whole new one.
 */
import * as fs from 'node:fs'
import path from 'node:path'
import { NotWritten } from './not-written.ts'

export interface Renames {
  /** Absolute paths. */
  renames: readonly { from: string; to: string }[]
  /** Absolute paths of files that go with the renames. */
  removed: readonly string[]
}

/** A journal is written under this name with the id of the process and `.tmp` behind it. */
export const unwrittenJournal = 'unfinished.json'

/** The name holds the id of the writing process: two builds at once have a journal each. */
const journalName = /^unfinished\.\d+\.json$/

/** The paths in the file are relative to its folder, which may be moved. @returns the absolute path of the file. */
export function writeJournal(folder: string, { renames, removed }: Renames): string {
  const file = path.join(folder, `unfinished.${process.pid}.json`)
  const below = (name: string) => path.relative(folder, name)
  const text = JSON.stringify({
    renames: renames.map(({ from, to }) => ({ from: below(from), to: below(to) })),
    removed: removed.map(below),
  })
  const beside = path.join(folder, `${unwrittenJournal}.${process.pid}.tmp`)
  try {
    fs.writeFileSync(beside, text, { flush: true })
    fs.renameSync(beside, file)
    return file
  } catch (error) {
    fs.rmSync(beside, { force: true })
    throw error
  }
}

/** Makes the renames that the journals of a folder name. @throws NotWritten for one that cannot be made. Its journal stays. */
export function finishRenames(folder: string): void {
  if (!fs.existsSync(folder)) return
  const journals = fs
    .readdirSync(folder)
    .filter((name) => journalName.test(name))
    .map((name) => path.join(folder, name))
  for (const journal of journals) finishJournal(journal)
}

/** Makes the renames that one journal names. @throws NotWritten for one that cannot be made. The journal stays. */
export function finishJournal(journal: string): void {
  const { renames, removed } = readJournal(journal)
  for (const { from, to } of renames) rename(from, to)
  for (const file of removed) fs.rmSync(file, { recursive: true, force: true })
  fs.rmSync(journal, { force: true })
}

function rename(from: string, to: string): void {
  try {
    fs.renameSync(from, to)
  } catch (error) {
    // a killed process has made this rename already, or a process beside this one has
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && fs.existsSync(to)) return
    throw new NotWritten(to, error)
  }
}

/** @returns no renames for a journal that another process has finished meanwhile, or that leads out of its folder. */
function readJournal(journal: string): Renames {
  const folder = path.dirname(journal)
  const isBelow = (name: unknown): name is string =>
    typeof name === 'string' && path.resolve(folder, name).startsWith(folder + path.sep)
  try {
    const { renames, removed } = JSON.parse(fs.readFileSync(journal, 'utf8')) as Renames
    const isSound = renames.every(({ from, to }) => isBelow(from) && isBelow(to)) && removed.every(isBelow)
    if (!isSound) return { renames: [], removed: [] }
    const absolute = (name: string) => path.join(folder, name)
    return {
      renames: renames.map(({ from, to }) => ({ from: absolute(from), to: absolute(to) })),
      removed: removed.map(absolute),
    }
  } catch {
    return { renames: [], removed: [] }
  }
}
