/** Checks the bundle: for imports that esbuild could not resolve, for code that must not be in it, and for its size. */
import * as fs from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import type esbuild from 'esbuild'
import type { Span } from '../declaration.ts'
import { hintFor } from '../elsewhere.ts'
import { located } from '../locate.ts'
import type { Program } from '../program.ts'
import { parse } from '../project.ts'
import { type Refusal, refusal } from '../refusals/index.ts'
import { kib } from './report.ts'

export interface CheckedBundle {
  metafile: esbuild.Metafile
  outputFiles: esbuild.OutputFile[]
  program: Program
  /** Largest compressed size of all scripts in bytes. */
  budget: number
}

/** Part of the message that the SDK's decorators throw. In the bundle it shows that a decorator was not erased. */
const leftBehind = 'is read by "stack build" and erased'

export function checkBundle({ metafile, outputFiles, program, budget }: CheckedBundle): Refusal[] {
  const found: Refusal<Span>[] = []
  const scripts = outputFiles.filter(({ path: file }) => !file.endsWith('.map'))
  if (scripts.some(({ path: file, contents }) => file.endsWith('.js') && holds(contents, leftBehind))) {
    found.push(refusal('decorator-as-value', entryPlace(program), { name: 'a decorator' }))
  }
  const sizes = packageSizes(metafile)
  const metadata = sizes.get('reflect-metadata')
  if (metadata) {
    const [place, importer] = importOf('reflect-metadata', metafile, program)
    // The certificate parser of this package writes the metadata that it reads.
    if (importer !== '@simplewebauthn/server')
      found.push(refusal('reflect-metadata-reached', place, { size: kib(metadata), importer }))
  }
  for (const name of evaluatingPackages(metafile, program)) {
    // The driver's `eval` never runs in a Workers runtime.
    if (name === '@neondatabase/serverless') continue
    const [place] = importOf(name, metafile, program)
    found.push(refusal('eval-in-package', place, { name, size: kib(sizes.get(name) ?? 0) }))
  }
  const raw = scripts.reduce((sum, { contents }) => sum + contents.length, 0)
  if (raw > budget) {
    const compressed = scripts.reduce((sum, { contents }) => sum + gzipSync(contents).length, 0)
    const largest = [...sizes].sort(([, a], [, b]) => b - a).slice(0, 3)
    const about = {
      size: kib(compressed),
      budget: kib(budget),
      largest: largest.map(([name, bytes]) => `${name} ${kib(bytes)}`).join(', '),
    }
    if (compressed > budget) found.push(refusal('bundle-over-budget', entryPlace(program), about))
  }
  return found.map((one) => located(one, program))
}

/** Turns esbuild's errors into refusals. */
export function checkMessages(
  messages: readonly esbuild.Message[],
  program: Program,
  schemas: readonly { place: Span }[],
): Refusal[] {
  return messages.map(({ text, location }) => {
    const { file = '', line = 1, column = 0, length = 0 } = location ?? {}
    const absolute = path.resolve(program.root, file)
    if (!location || !program.sources.isRead(absolute)) {
      const where = location && !file.startsWith('stack-entry:') ? ` (in ${file}:${line})` : ''
      return located(refusal('bundle-failed', entryPlace(program), { reason: `${text}${where}` }), program)
    }
    const name = program.sources.nameOf(absolute)
    const lineStart = program.sources.lineStartsOf(absolute)[line - 1]
    const start = (lineStart ?? 0) + column
    // The expressions of the file's schemas are appended below its last line (see schemas.ts).
    const schema = lineStart === undefined ? schemas.find((one) => one.place.file === name)?.place : undefined
    const place = schema ?? { file: name, start, end: start + Math.max(1, length) }
    return located(refusal('bundle-failed', place, { reason: withPackageName(text) }), program)
  })
}

/** esbuild names the SDK's file. A project knows it as `@stack/backend`. */
function withPackageName(text: string): string {
  const [, missing] = /^No matching export in ".*\bsdk\/index\.[jt]s" for import "(.*)"$/.exec(text) ?? []
  if (missing === undefined) return text
  const hint = /(?:Exception|Error)$/.test(missing) ? 'throw an `HttpError`' : hintFor(missing)
  return `@stack/backend exports no "${missing}"${hint === undefined ? '' : `: ${hint}`}`
}

function holds({ buffer, byteOffset, length }: Uint8Array, text: string): boolean {
  return Buffer.from(buffer, byteOffset, length).includes(text)
}

function entryPlace({ entry }: Program): Span {
  return { file: entry, start: 0, end: 0 }
}

/** Packages whose files in the bundle call `eval`. esbuild reports none of its warnings about packages. */
function evaluatingPackages({ inputs }: esbuild.Metafile, { root }: Program): Set<string> {
  const found = new Set<string>()
  for (const file of Object.keys(inputs)) {
    const name = packageOf(file)
    if (name === undefined || found.has(name) || !/\.[cm]?[jt]sx?$/.test(file)) continue
    const text = fs.readFileSync(path.resolve(root, file), 'utf8')
    // `new Function` often has a fallback for platforms that forbid it. `eval` seldom has one.
    if (/\beval\s*\(/.test(text) && parse(file, text).evals.some((one) => one.text === 'eval')) found.add(name)
  }
  return found
}

/** Bytes of the bundle by package. */
function packageSizes({ outputs }: esbuild.Metafile): Map<string, number> {
  const sizes = new Map<string, number>()
  for (const { inputs } of Object.values(outputs)) {
    for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
      const name = packageOf(file) ?? 'this project with its runtime'
      sizes.set(name, (sizes.get(name) ?? 0) + bytesInOutput)
    }
  }
  return sizes
}

function packageOf(file: string): string | undefined {
  return /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1]
}

/** The place where the project imports a package, with the importing file. For another package's import it is the entry. */
function importOf(name: string, { inputs }: esbuild.Metafile, program: Program): [Span, string] {
  let importer = 'the project'
  for (const [file, { imports }] of Object.entries(inputs)) {
    if (packageOf(file) === name || !imports.some(({ path: to }) => packageOf(to) === name)) continue
    const absolute = path.resolve(program.root, file)
    importer = packageOf(file) ?? importer
    if (!program.sources.isRead(absolute)) continue
    const source = program.sources.read(absolute)
    const need = source.needs.find(({ from }) => from === name || from.startsWith(`${name}/`))
    if (need) return [need.place, source.path]
  }
  return [entryPlace(program), importer]
}
