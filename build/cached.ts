/**
 * Skips a build if nothing has changed since the last one. The hashes of the last build's inputs and outputs decide, so
 * that not even the compiler needs to be loaded.
 */
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import type { RouteTable } from '../runtime/table.ts'
import { projectPaths } from '../src/wire/project-paths.ts'
import { finishRenames } from './emit/journal.ts'
import { writeWhole } from './emit/write.ts'
import type { BuildOptions, BuildResult } from './options.ts'
import type { Refusal } from './refusals/index.ts'

interface BuildRecord {
  /** Hash of the compiler, its options and the installed packages. */
  key: string
  /** Hash of the names of all files below the entry's folder and in `migrations/`. */
  listed: string
  /** Hash of each file that was read or written, by absolute path. */
  contents: Record<string, string>
  /** Warnings. */
  refusals: Refusal[]
  sizes: NonNullable<BuildResult['built']>['sizes']
}

const recordName = 'build.json'

/** Builds a project, unless the last build had the same inputs and its outputs are still there. */
export async function buildCached(options: BuildOptions): Promise<BuildResult> {
  const file = path.join(options.out, recordName)
  finishRenames(options.out) // a refused build must leave a whole earlier one
  const unchanged = readUnchanged(file, options)
  if (unchanged) return unchanged
  fs.rmSync(file, { force: true })
  const began = Date.now()
  const { build } = await import('./index.ts')
  const result = await build(options)
  if (result.built) writeRecord(file, options, result, began)
  return result
}

function readUnchanged(file: string, options: BuildOptions): BuildResult | undefined {
  try {
    const record = JSON.parse(fs.readFileSync(file, 'utf8')) as BuildRecord
    if (record.key !== keyOf(options) || record.listed !== listingOf(options)) return undefined
    for (const [name, hash] of Object.entries(record.contents)) if (hashOf(name) !== hash) return undefined
    const table = JSON.parse(fs.readFileSync(path.join(options.out, 'table.json'), 'utf8')) as RouteTable
    return {
      refusals: record.refusals,
      built: { table, sizes: record.sizes, inputs: [], outputs: [], isSelfContained: true },
    }
  } catch {
    return undefined // There is no record, it has another format, or a file is gone.
  }
}

function writeRecord(file: string, options: BuildOptions, { refusals, built }: BuildResult, began: number): void {
  const { inputs, outputs, sizes, isSelfContained } = built!
  if (!isSelfContained) return
  // A file that was written during the build may have been read before: its content now is not what was built.
  if (inputs.some((name) => fs.statSync(name).mtimeMs > began - 20)) return
  const contents = Object.fromEntries([...inputs, ...outputs].map((name) => [name, hashOf(name)]))
  const record: BuildRecord = { key: keyOf(options), listed: listingOf(options), contents, refusals, sizes }
  writeWhole(file, JSON.stringify(record))
}

function hashOf(file: string): string {
  return createHash('sha1').update(fs.readFileSync(file)).digest('base64')
}

function listingOf({ root, entry }: BuildOptions): string {
  // A new file of any kind may be the one that an import leads to.
  const folders = [path.dirname(path.resolve(root, entry)), path.join(root, projectPaths.migrations)]
  const listed = folders.flatMap((folder) => filesBelow(folder).sort())
  return createHash('sha1').update(listed.join('\n')).digest('base64')
}

/** Hash of all that decides the result beside the files: the options, this compiler, and the installed packages. */
function keyOf(options: BuildOptions): string {
  const stamp = (file: string) => {
    const found = fs.statSync(file, { throwIfNoEntry: false })
    return found ? `${file} ${found.mtimeMs} ${found.size}` : `${file} -`
  }
  const installed = stamped.map((name) => stamp(path.join(options.root, name)))
  const own = filesBelow(import.meta.dirname).map(stamp)
  return createHash('sha1')
    .update(JSON.stringify([options, installed, own]))
    .digest('base64')
}

/** Files that package managers write, and files that decide how imports resolve. */
const stamped = [
  'node_modules/.package-lock.json',
  'node_modules/.modules.yaml',
  'node_modules/.yarn-state.yml',
  'package.json',
  'package-lock.json',
  'pnpm-lock.yaml',
  'yarn.lock',
  'bun.lock',
  'tsconfig.json',
]

function filesBelow(folder: string): string[] {
  if (!fs.existsSync(folder)) return []
  return fs.readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    return entry.isFile() ? [path.join(entry.parentPath, entry.name)] : []
  })
}
