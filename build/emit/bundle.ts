/** The worker, the database driver and what else is loaded on demand, as ES modules with source maps; made in memory (contract 8.5). */
import * as fs from 'node:fs'
import path from 'node:path'
import esbuild from 'esbuild'
import { type Program, sdkName } from '../program.ts'
import { type Refusal, refusal } from '../refusals.ts'
import { erase } from './erase.ts'

export interface OutputFile {
  /** `worker.js` */
  name: string
  contents: Uint8Array
}

export interface BundleOptions {
  program: Program
  /** Source of the entry module. */
  entry: string
  /** Absolute paths of the SDK and of the database driver. */
  sdk: string
  driver: string
  /** Where the files will be written: source maps refer to their sources from there. */
  folder: string
}

const entryName = 'stack:entry'

/** Part of what a decorator throws: in the bundle it means that one of them was not read, in whatever way it was hidden. */
const leftBehind = 'is read by "stack build" and erased'

/** @returns the files, or what could not be resolved. */
export async function bundle({
  program,
  entry,
  sdk,
  driver,
  folder,
}: BundleOptions): Promise<OutputFile[] | Refusal[]> {
  const originals = new Map<string, string>()
  try {
    const { outputFiles } = await esbuild.build({
      // the driver is an entry too, so that it keeps its name when it is imported on demand
      entryPoints: { worker: entryName, driver },
      absWorkingDir: program.root,
      entryNames: '[name]',
      chunkNames: '[name]-[hash]',
      assetNames: '[name]-[hash]',
      outdir: folder,
      write: false,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'neutral',
      // a project's own decorators are the legacy kind too; where there is a tsconfig.json, it says so itself
      ...(fs.existsSync(path.join(program.root, 'tsconfig.json'))
        ? {}
        : { tsconfigRaw: { compilerOptions: { experimentalDecorators: true } } }),
      mainFields: ['module', 'main'],
      conditions: ['workerd', 'worker', 'import'],
      target: 'es2024',
      minify: true,
      sourcemap: 'linked',
      external: ['node:*', 'cloudflare:*'],
      loader: { '.wasm': 'copy' },
      logLevel: 'silent',
      logOverride: { 'import-is-undefined': 'error' },
      plugins: [generatedEntry(entry, program.root), projectSources(program, sdk, originals)],
    })
    if (outputFiles.some(({ path: file, text }) => file.endsWith('.js') && text.includes(leftBehind))) {
      const place = { file: program.entry, line: 1, column: 1, endLine: 1, endColumn: 1 }
      return [refusal('decorator-as-value', place, { name: 'a decorator of @stack/backend' })]
    }
    return outputFiles.map(({ path: file, contents }) => {
      const name = path.basename(file)
      return { name, contents: name.endsWith('.map') ? withOriginals(contents, file, originals) : contents }
    })
  } catch (error) {
    if (error instanceof Error && 'errors' in error) {
      return (error.errors as esbuild.Message[]).map((message) => refusalOf(message, program))
    }
    throw error
  }
}

export function isBundled(result: OutputFile[] | Refusal[]): result is OutputFile[] {
  return result.every((item) => 'contents' in item)
}

function refusalOf({ text, location }: esbuild.Message, program: Program): Refusal {
  const { file: found = '', line = 1, column = 0, length = 0 } = location ?? {}
  const file = program.files.has(found) ? found : program.entry // the generated entry is nobody's to read
  const place = { file, line, column: column + 1, endLine: line, endColumn: column + 1 + Math.max(1, length) }
  return refusal('bundle-failed', place, { reason: text })
}

function generatedEntry(contents: string, resolveDir: string): esbuild.Plugin {
  return {
    name: 'stack-entry',
    setup(build) {
      build.onResolve({ filter: /^stack:entry$/ }, ({ path }) => ({ path, namespace: 'stack-entry' }))
      build.onLoad({ filter: /.*/, namespace: 'stack-entry' }, () => ({ contents, resolveDir, loader: 'js' }))
    },
  }
}

/** Resolves the SDK to this very copy, so that there is one request scope, and erases decorators on the way in. */
function projectSources(program: Program, sdk: string, originals: Map<string, string>): esbuild.Plugin {
  return {
    name: 'stack-project',
    setup(build) {
      build.onResolve({ filter: /^@stack\/backend$/ }, () => ({ path: sdk, sideEffects: false }))
      build.onLoad({ filter: /\.tsx?$/ }, ({ path: file }) => {
        const isInstalled = path.relative(program.root, file).split(path.sep).includes('node_modules')
        if (isInstalled) return undefined
        const text = fs.readFileSync(file, 'utf8').replace(/^\ufeff/, '')
        const isProject = file.startsWith(program.root + path.sep)
        if (!text.includes('@') || !(isProject || text.includes(sdkName))) return undefined
        const source = program.read(file)
        const spans = source.decorators.filter((decorator) => program.sdkDecorator(source, decorator) !== undefined)
        if (spans.length === 0) return undefined
        originals.set(file, text)
        return { contents: erase(text, spans), loader: file.endsWith('x') ? 'tsx' : 'ts' }
      })
    },
  }
}

/** A map that quotes its sources quotes them as they were written, decorators included. */
function withOriginals(contents: Uint8Array, file: string, originals: ReadonlyMap<string, string>): Uint8Array {
  const map = JSON.parse(new TextDecoder().decode(contents)) as { sources: string[]; sourcesContent: string[] }
  map.sourcesContent = map.sourcesContent.map(
    (content, index) => originals.get(path.resolve(path.dirname(file), map.sources[index]!)) ?? content,
  )
  return new TextEncoder().encode(JSON.stringify(map))
}
