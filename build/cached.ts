/**
 * A build that finds nothing changed since the last one, and is done: the compiler itself is not even loaded. What went
 * into the last build, and what came out, is known by its content.
 */
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import type { RouteTable } from '../runtime/table.ts'
import { projectPaths } from '../src/wire/project-paths.ts'
import { writeWhole } from './emit/write.ts'
import type { BuildOptions, BuildResult } from './index.ts'
import type { Refusal } from './refusals/index.ts'

interface BuildRecord {
  /** Of the compiler and its options. */
  key: string
  /** Every file below the entry's folder. */
  listed: string
  /** Content by absolute path: what was read, and what was written. */
  contents: Record<string, string>
  /** Warnings. */
  refusals: Refusal[]
  sizes: NonNullable<BuildResult['built']>['sizes']
}

const recordName = 'build.json'

/** Like `build`. */
export async function buildCached(options: BuildOptions): Promise<BuildResult> {
  const file = path.join(options.out, recordName)
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
    return undefined // no record, one of another version, or a file that is gone
  }
}

function writeRecord(file: string, options: BuildOptions, { refusals, built }: BuildResult, began: number): void {
  const { inputs, outputs, sizes, isSelfContained } = built!
  if (!isSelfContained) return
  // a file that was written while it was being read may have been read before: its content now proves nothing
  if (inputs.some((name) => fs.statSync(name).mtimeMs > began - 20)) return
  const contents = Object.fromEntries([...inputs, ...outputs].map((name) => [name, hashOf(name)]))
  const record: BuildRecord = { key: keyOf(options), listed: listingOf(options), contents, refusals, sizes }
  writeWhole(file, JSON.stringify(record))
}

function hashOf(file: string): string {
  return createHash('sha1').update(fs.readFileSync(file)).digest('base64')
}

function listingOf({ root, entry }: BuildOptions): string {
  // whatever its kind, a file that comes may be what an import means
  const folders = [path.dirname(path.resolve(root, entry)), path.join(root, projectPaths.migrations)]
  const listed = folders.flatMap((folder) => filesBelow(folder).sort())
  return createHash('sha1').update(listed.join('\n')).digest('base64')
}

/** What decides the result beside the files: the options, this compiler, the installed packages, the configuration's presence. */
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

/** What a package manager writes, and what decides how imports resolve. */
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
