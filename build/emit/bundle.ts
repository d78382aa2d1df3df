/** One ES module for the worker, one for the database driver, with source maps; made in memory (contract 8.5). */
import * as fs from 'node:fs'
import path from 'node:path'
import esbuild from 'esbuild'
import type { Program } from '../program.ts'
import { erase } from './erase.ts'

export interface OutputFile {
  /** `worker.js` */
  name: string
  contents: Uint8Array
}

/** The bundler could not resolve or read something: its own words, with its places. */
export class BundleFailed extends Error {
  override name = 'BundleFailed'
}

/** @param entry source of the entry module. @param sdk absolute path of `src/sdk/index.ts`. @throws BundleFailed */
export async function bundle(program: Program, entry: string, sdk: string): Promise<OutputFile[]> {
  const { root } = program
  const originals = new Map<string, string>()
  try {
    const { outputFiles } = await esbuild.build({
      stdin: { contents: entry, resolveDir: root, sourcefile: 'stack-entry.js', loader: 'js' },
      absWorkingDir: root,
      entryNames: 'worker',
      chunkNames: '[name]',
      assetNames: '[name]',
      outdir: path.join(root, '.stack/out'), // nothing is written there: only names and source map paths derive from it
      write: false,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      conditions: ['workerd', 'worker', 'import'],
      target: 'es2024',
      minify: true,
      sourcemap: 'linked',
      external: ['node:*', 'cloudflare:*'],
      loader: { '.wasm': 'copy' },
      logLevel: 'silent',
      logOverride: { 'import-is-undefined': 'error' },
      plugins: [projectSources(program, sdk, originals)],
    })
    return outputFiles.map(({ path: file, contents }) => {
      const name = path.basename(file)
      return { name, contents: name.endsWith('.map') ? withOriginals(contents, file, originals) : contents }
    })
  } catch (error) {
    if (error instanceof Error && 'errors' in error) {
      const messages = await esbuild.formatMessages(error.errors as esbuild.Message[], { kind: 'error', color: false })
      throw new BundleFailed(messages.join('').trim())
    }
    throw error
  }
}

/** Resolves the SDK to this very copy, so that there is one request scope, and erases decorators on the way in. */
function projectSources(program: Program, sdk: string, originals: Map<string, string>): esbuild.Plugin {
  return {
    name: 'stack-project',
    setup(build) {
      build.onResolve({ filter: /^@stack\/backend$/ }, () => ({ path: sdk, sideEffects: false }))
      build.onLoad({ filter: /\.tsx?$/ }, ({ path: file }) => {
        if (file.includes(`${path.sep}node_modules${path.sep}`)) return undefined
        const text = fs.readFileSync(file, 'utf8').replace(/^\ufeff/, '')
        if (!text.includes('@')) return undefined
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
