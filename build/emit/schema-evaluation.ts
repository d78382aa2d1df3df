/**
 * Evaluates a project's schemas. They are values of the project's code, so that code runs: bundled by itself, in a thread
 * without the environment variables of this process, for a limited time.
 */
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type esbuild from 'esbuild'
import type { BoundSchema } from '../link/schemas.ts'
import type { Program } from '../program.ts'
import { projectSources } from './bundle.ts'
import { type Answered, threadSource } from './json-schemas.thread.ts'
import { schemaName } from './schemas.ts'

/** Longest time in milliseconds for which the project's code may run. Even large modules take a fraction of a second. */
export const limitMs = 5_000

/** Largest heap in MiB of the thread. arktype, the largest of the schema libraries, needs about 60. */
const memoryMib = 512

const converter = fileURLToPath(import.meta.resolve('@valibot/to-json-schema'))

export interface Outcome {
  answers?: Answered[]
  /** Why there are no answers. Absent when the time was over. */
  reason?: string
  /** Lines and columns of the bundle at which the error was thrown, innermost first. */
  frames?: [number, number][]
  /** Index of the file that was being evaluated. Below 0 it is a schema: -1 is the first. */
  at: number
}

export interface BundleForEvaluation {
  program: Program
  /** Absolute path of the SDK. */
  sdk: string
  schemas: readonly BoundSchema[]
  /** Receives the absolute path of each file that is loaded. Its index is `Outcome.at`. */
  files: string[]
  withMap: boolean
}

/** @returns the bundle, preceded by its source map if there is one. */
export async function bundleSchemas(options: BundleForEvaluation): Promise<Uint8Array[]> {
  const { program, sdk, schemas, files, withMap } = options
  const { root } = program
  const imports = schemas.map(
    ({ place }, index) =>
      `import { ${schemaName(index)} as schema${index} } from ${JSON.stringify(path.join(root, place.file))}`,
  )
  const list = `export const schemas = [${schemas.map((_, index) => `schema${index}`).join(', ')}]`
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    stdin: { contents: [...imports, list].join('\n'), resolveDir: root, loader: 'js' },
    absWorkingDir: root,
    outfile: path.join(root, 'schemas.js'), // A name for the source map. Nothing is written.
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['workerd', 'worker', 'import'],
    external: ['node:*'],
    loader: { '.wasm': 'empty' },
    logLevel: 'silent',
    sourcemap: withMap ? 'external' : false,
    plugins: [
      platform,
      withProgress(
        projectSources(program, sdk, () => [...schemas], new Map()),
        files,
      ),
    ],
  })
  return outputFiles.map(({ contents }) => contents)
}

/** Makes each file report that its evaluation begins. Nothing else would tell which file never ends. */
function withProgress(plugin: esbuild.Plugin, files: string[]): esbuild.Plugin {
  return {
    name: plugin.name,
    setup: (build) =>
      plugin.setup({
        ...build,
        onLoad: (options, load) =>
          build.onLoad(options, async (given) => {
            const loaded = await load(given)
            if (typeof loaded?.contents !== 'string') return loaded
            const index = files.push(given.path) - 1
            return { ...loaded, contents: `globalThis.stack$at?.(${index});${loaded.contents}` }
          }),
      }),
  }
}

/** Stands in for modules of the Workers runtime: every export is a class, and there are no bindings. */
const platform: esbuild.Plugin = {
  name: 'stack-platform',
  setup(build) {
    build.onResolve({ filter: /^cloudflare:/ }, ({ path }) => ({ path, namespace: 'stack-platform' }))
    build.onLoad({ filter: /.*/, namespace: 'stack-platform' }, () => ({
      contents: `module.exports = Object.create(new Proxy({}, { get: (_, name) => (name === 'env' ? {} : class {}) }))`,
      loader: 'js',
    }))
  },
}

/** @param text the bundle. @param uses the injector of each schema. */
export function evaluate(text: string, uses: readonly string[]): Promise<Outcome> {
  const url = `data:text/javascript;base64,${Buffer.from(text).toString('base64')}`
  const progress = new SharedArrayBuffer(4)
  const thread = new Worker(threadSource, {
    eval: true,
    workerData: { url, progress, uses, converter },
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: memoryMib },
  })
  return new Promise((resolve) => {
    const end = (found: Omit<Outcome, 'at'>) => {
      clearTimeout(timer)
      thread.terminate()
      resolve({ ...found, at: new Int32Array(progress)[0]! })
    }
    const timer = setTimeout(() => end({}), limitMs)
    thread.once('error', (error) => end({ reason: error instanceof Error ? error.message : String(error) }))
    thread.once('exit', () => end({ reason: 'it ended the process, or waits for something that never comes' }))
    thread.once('message', end)
  })
}
