/** The map of ARCHITECTURE.md names every folder and file of the rooms, and nothing that does not exist. */
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { trackedFiles } from '../../tools/tracked.ts'

const root = path.resolve(import.meta.dirname, '../..')
const files = trackedFiles(root)
const folders = new Set(files.flatMap(foldersAbove))

/**
 * Folders whose content the map describes as a whole: benchmarks, tests, projects, refusals and numbered SQL. The table of
 * concepts lists the files of `build/read`, `build/refuse` and `build/link`.
 */
const isWhole = (folder: string) =>
  /^(?:bench|test|examples|build\/(?:read|refuse|refusals|link)|.*\/schema)(?:\/|$)/.test(folder)

interface Entry {
  /** The number of blanks before the line: a deeper line belongs to the folder above it. */
  depth: number
  /** The names before the description, as they are written. */
  names: string[]
  /** The whole text of the line and of the lines that continue it. */
  text: string
  /** Whether two blanks part the names from their description. Otherwise the description follows the last name. */
  hasColumn: boolean
}

/** One folder of the map: every text that stands directly in it. */
interface Section {
  folder: string
  /** Names in the first column of its lines. */
  names: string[]
  text: string
}

const page = fs.readFileSync(path.join(root, 'ARCHITECTURE.md'), 'utf8')
const map = /## The map\n+```\n([\s\S]*?)\n```/.exec(page)![1]!

/** Descriptions begin at this column, and a line without a name before it continues the one above. */
const descriptionColumn = 20

function entriesOf(text: string): Entry[] {
  const entries: Entry[] = []
  for (const line of text.split('\n')) {
    const depth = line.search(/\S/)
    if (depth >= descriptionColumn) entries.at(-1)!.text += ` ${line.trim()}`
    else if (depth >= 0) {
      const [column = '', ...description] = line.trim().split(/ {2,}/)
      const words = column.split(/[\s,]+/)
      // A list of names alone has no commas, but a description has some.
      const hasColumn = description.length > 0 || !line.includes(',')
      entries.push({ depth, names: words, text: line.trim(), hasColumn })
    }
  }
  return entries
}

function sectionsOf(entries: readonly Entry[]): Section[] {
  const above: { depth: number; section: Section }[] = [{ depth: -1, section: { folder: '', names: [], text: '' } }]
  const sections = [above[0]!.section]
  for (const { depth, names: words, text, hasColumn } of entries) {
    while (above.at(-1)!.depth >= depth) above.pop()
    const parent = above.at(-1)!.section
    const end = hasColumn ? -1 : words.findIndex((word) => !exists(parent.folder, word))
    const names = end === -1 ? words : words.slice(0, end)
    parent.names.push(...names)
    const [first = '', second] = names
    // Several folders in one line are a group, and the line describes their content as a whole.
    if (first.endsWith('/') && second === undefined) {
      const section = { folder: path.posix.join(parent.folder, first.slice(0, -1)), names: [], text }
      sections.push(section)
      above.push({ depth, section })
      parent.text += ` ${first}`
    } else parent.text += ` ${text}`
  }
  return sections
}

function foldersAbove(file: string): string[] {
  const parts = file.split('/').slice(0, -1)
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

/** @returns whether a name of the map stands for a file or a folder. An extension may be left out. */
function exists(folder: string, name: string): boolean {
  const wanted = path.posix.join(folder, name)
  if (name.includes('<')) return folders.has(wanted.slice(0, wanted.indexOf('/<')))
  if (name.endsWith('/')) return folders.has(wanted.slice(0, -1))
  return files.some(
    (file) => file === wanted || (/^\.(?:ts|cjs|d\.ts)$/.test(file.slice(wanted.length)) && file.startsWith(wanted)),
  )
}

const wordsOf = (text: string) => new Set(text.split(/[\s,;:()]+/).map((word) => word.replace(/\.$/, '')))

/** A file `x.thread.ts` or `x.test.ts` belongs to `x`. */
const stemOf = (file: string) => path.posix.basename(file).replace(/(?:\.thread|\.test|\.d)?\.(?:ts|cjs)$/, '')

const isCode = (file: string) => /\.(?:ts|cjs)$/.test(file)

/** @returns the files and folders directly in a folder that its section leaves out. */
function unnamed({ folder, text }: Section): string[] {
  if (folder === '' || isWhole(folder)) return []
  const words = wordsOf(text)
  const own = files.filter((file) => path.posix.dirname(file) === folder && isCode(file))
  const missing = own.filter((file) => !words.has(stemOf(file)) && !words.has(path.posix.basename(file)))
  const inside = [...folders].filter((one) => path.posix.dirname(one) === folder)
  const unknown = inside.filter((one) => !words.has(`${path.posix.basename(one)}/`))
  return [...missing, ...unknown.map((one) => `${one}/`)]
}

/** @returns the names in the table of concepts that stand for no file or folder of their column. */
function wrongInTable(): string[] {
  const [head = [], , ...rows] = page
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').slice(1, -1))
  const rooms = head.map((cell) => /`([^`]+)`/.exec(cell)?.[1] ?? '')
  return rows.flatMap((cells) =>
    cells.flatMap((cell, column) =>
      (cell.match(/[\w./-]+(?:\.ts|\/)/g) ?? [])
        .filter((name) => !exists(rooms[column]!, name) && !exists('', name))
        .map((name) => `${rooms[column]}/${name}`),
    ),
  )
}

describe('the map of ARCHITECTURE.md', () => {
  const sections = sectionsOf(entriesOf(map))

  it('names every folder at the top', () => {
    const top = [...folders].filter((folder) => !folder.includes('/') && !folder.startsWith('.'))
    expect(top.filter((folder) => !new RegExp(`^${folder}/`, 'm').test(map))).toEqual([])
  })

  it('has a table of concepts whose files exist', () => {
    expect([...new Set(wrongInTable())]).toEqual([])
  })

  it('names nothing that does not exist', () => {
    const wrong = sections.flatMap(({ folder, names }) =>
      names.filter((name) => !exists(folder, name)).map((name) => path.posix.join(folder, name)),
    )
    expect(wrong).toEqual([])
  })

  it('names every file and folder of a room that it lists', () => {
    expect(sections.flatMap(unnamed)).toEqual([])
  })
})
