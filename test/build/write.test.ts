/** Files that are written together: all old or all new, whenever the writing process ends (contract 8.1). */
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { finishRenames } from '../../build/emit/journal.ts'
import { staleIn, writeTogether, writeWhole } from '../../build/emit/write.ts'
import { temporaryFolder, temporaryProject } from '../support/project.ts'

/** An id that no process has: Linux gives none above 2^22. */
const nobody = 2 ** 22 + 1
const hasFullDevice = fs.existsSync('/dev/full')
if (!hasFullDevice) process.stderr.write('there is no /dev/full: the test of a full disk is skipped\n')

/** Each file of a folder with its text. */
function contentsOf(folder: string): Record<string, string> {
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  const files = names.filter((name) => fs.statSync(path.join(folder, name)).isFile())
  return Object.fromEntries(files.map((name) => [name, fs.readFileSync(path.join(folder, name), 'utf8')]))
}

const journal = (renames: object[], removed: string[] = []) => JSON.stringify({ renames, removed })
const rename = (to: string) => ({ from: `${to}.${nobody}.tmp`, to })

describe('a write of a folder', () => {
  it('replaces its files, removes the stale ones, and leaves nothing else', () => {
    const folder = temporaryProject({
      'out/worker.js': 'old',
      'out/driver.js': 'old',
      'table.json': 'old',
      [`unfinished.json.${nobody}.tmp`]: '{',
    })
    const written = ['table.json', 'out/worker.js'].map((name) => ({ file: path.join(folder, name), contents: 'new' }))
    const removed = staleIn(path.join(folder, 'out'), new Set(['worker.js']))
    writeTogether(written, { folder, removed })
    expect(contentsOf(folder)).toEqual({ 'out/worker.js': 'new', 'table.json': 'new' })
  })

  it('that was killed between two renames is finished, wherever the folder is now', () => {
    const folder = temporaryProject({
      'table.json': 'new',
      'out/worker.js': 'old',
      [`out/worker.js.${nobody}.tmp`]: 'new',
      'out/driver.js': 'old',
      [`unfinished.${nobody}.json`]: journal([rename('table.json'), rename('out/worker.js')], ['out/driver.js']),
    })
    finishRenames(folder)
    expect(contentsOf(folder)).toEqual({ 'out/worker.js': 'new', 'table.json': 'new' })
    finishRenames(folder)
    expect(contentsOf(folder)).toEqual({ 'out/worker.js': 'new', 'table.json': 'new' })
  })

  it('that was killed before its journal stays undone, and the next write removes its rest', () => {
    const folder = temporaryProject({ 'table.json': 'old', [`table.json.${nobody}.tmp`]: 'ne' })
    finishRenames(folder)
    expect(contentsOf(folder)).toEqual({ 'table.json': 'old', [`table.json.${nobody}.tmp`]: 'ne' })
    writeWhole(path.join(folder, 'table.json'), 'newer')
    expect(contentsOf(folder)).toEqual({ 'table.json': 'newer' })
  })

  it('is not followed by the renames of a killed one', () => {
    const folder = temporaryProject({
      'a.js': 'old',
      [`a.js.${nobody}.tmp`]: 'new',
      'b.js': 'old',
      [`unfinished.${nobody}.json`]: journal([rename('a.js')], ['b.js']),
    })
    const newest = ['a.js', 'b.js'].map((name) => ({ file: path.join(folder, name), contents: 'newest' }))
    writeTogether(newest, { folder, removed: [] })
    expect(contentsOf(folder)).toEqual({ 'a.js': 'newest', 'b.js': 'newest' })
  })

  it.each([
    ['a rename from outside', journal([{ from: '../outside.txt', to: 'inside.txt' }])],
    ['a rename to outside', journal([{ from: 'inside.txt', to: '../outside.txt' }])],
    ['a removal outside', journal([], ['../outside.txt'])],
    ['a removal of the folder itself', journal([], ['.'])],
    ['an absolute path', journal([], ['/nowhere/outside.txt'])],
    ['no JSON', '{"renames":['],
  ])('a journal with %s changes nothing', (_what, text) => {
    const root = temporaryProject({ 'outside.txt': 'outside', 'build/inside.txt': 'inside' })
    const folder = path.join(root, 'build')
    fs.writeFileSync(path.join(folder, 'unfinished.1.json'), text)
    finishRenames(folder)
    expect(contentsOf(root)).toEqual({ 'outside.txt': 'outside', 'build/inside.txt': 'inside' })
  })
})

describe('what a killed process has left', () => {
  it('goes with the next write, and the file of a running process stays', () => {
    const parent = process.ppid
    const folder = temporaryProject({ [`a.json.${nobody}.tmp`]: '{', [`a.json.${parent}.tmp`]: '{', 'a.json.tmp': '{' })
    writeWhole(path.join(folder, 'a.json'), '{}')
    expect(contentsOf(folder)).toEqual({ 'a.json': '{}', [`a.json.${parent}.tmp`]: '{', 'a.json.tmp': '{' })
  })
})

describe('a file that cannot be written', () => {
  it.runIf(hasFullDevice)('on a full disk is named, with what to do, and the old one stays', () => {
    const folder = temporaryProject({ 'a.json': 'old', 'b.json': 'old' })
    const files = ['a.json', 'b.json'].map((name) => path.join(folder, name))
    fs.symlinkSync('/dev/full', `${files[1]}.${process.pid}.tmp`)
    expect(() => writeTogether(files.map((file) => ({ file, contents: 'new' })))).toThrow(
      `${files[1]} was not written: the disk is full (ENOSPC). What stood there is unchanged. Free some space on it, and run the command again`,
    )
    expect(contentsOf(folder)).toEqual({ 'a.json': 'old', 'b.json': 'old' })
  })

  it('in the place of a folder is named, and its journal finishes the work later', () => {
    const folder = temporaryProject({ 'a.json': 'old', 'b.json/file': 'in the way' })
    const written = ['a.json', 'b.json'].map((name) => ({ file: path.join(folder, name), contents: 'new' }))
    const write = () => writeTogether(written, { folder, removed: [] })
    expect(write).toThrow(`${folder}/b.json was not written: `)
    fs.rmSync(path.join(folder, 'b.json'), { recursive: true })
    finishRenames(folder)
    expect(contentsOf(folder)).toEqual({ 'a.json': 'new', 'b.json': 'new' })
  })

  it('leaves an error of another kind as it is', () => {
    const contents = () => {
      throw new TypeError('a fault of the code')
    }
    const file = path.join(temporaryFolder(), 'a.json')
    expect(() => writeTogether([{ file, contents }])).toThrow(TypeError)
    expect(fs.readdirSync(path.dirname(file))).toEqual([])
  })
})
