/** The worker, the database driver and what else is loaded on demand, as ES modules with source maps; made in memory (contract 8.5). */
import * as fs from 'node:fs'
import path from 'node:path'
import type esbuild from 'esbuild'
import { sdkName } from '../declaration.ts'
import type { Linked } from '../link/index.ts'
import type { Program } from '../program.ts'
import type { Refusal } from '../refusals/index.ts'
import { withoutMark } from '../sources.ts'
import { entrySource } from './entry.ts'
import { erase } from './erase.ts'
import { failures, inspect } from './inspect.ts'
import { schemaExports } from './schemas.ts'

export interface OutputFile {
  /** `worker.js` */
  name: string
  /** As esbuild made it. */
  made: Uint8Array
  /** As it is written. */
  contents: () => Uint8Array | Iterable<string>
}

interface Bundled {
  /** Empty when refused. */
  files: OutputFile[]
  refusals: Refusal[]
  /** Absolute paths of everything that went in. */
  inputs: string[]
}

export interface Bundler {
  /** A second bundle reuses what esbuild knows of files that are the same. */
  bundle(linked: Linked): Promise<Bundled>
  /** What bundling finds in a project that is refused already, so that one run says all. @param files absolute. */
  survey(files: readonly string[]): Promise<Refusal[]>
  close(): Promise<void>
}

export interface BundlerOptions {
  program: Program
  /** Absolute: this package. */
  packageRoot: string
  /** Where the files will be written: source maps refer to their sources from there. */
  folder: string
  /** Compressed bytes that the worker may have. */
  budget: number
}

const entryName = 'stack:entry'

export function createBundler({ program, packageRoot, folder, budget }: BundlerOptions): Bundler {
  const part = (file: string) => path.join(packageRoot, file)
  const sdk = part('src/sdk/index.ts')
  const runtime = {
    worker: part('runtime/worker.ts'),
    transaction: part('runtime/database/transaction.ts'),
    pool: part('runtime/database/stack-pool.ts'),
    scope: part('src/sdk/scope.ts'),
    entrypoint: part('runtime/entrypoint.ts'),
    mirror: part('runtime/mirror.ts'),
    cors: part('runtime/cors.ts'),
    limits: part('runtime/limits.ts'),
    management: part('runtime/management.ts'),
    coerce: part('runtime/coerce.ts'),
    webhooks: part('runtime/webhooks'),
  }
  const originals = new Map<string, string>()
  let current: { schemas: Linked['schemas']; entry: string }
  let context: { hasDatabase: boolean; esbuild: esbuild.BuildContext<{ write: false; metafile: true }> } | undefined

  async function contextFor(hasDatabase: boolean) {
    if (context?.hasDatabase === hasDatabase) return context.esbuild
    await context?.esbuild.dispose()
    const created = await (await import('esbuild')).context({
      // the driver is an entry too, so that it keeps its name when it is imported on demand
      entryPoints: { worker: entryName, ...(hasDatabase ? { driver: part('runtime/database/driver.ts') } : {}) },
      ...settings(program.root, folder),
      plugins: [
        generatedEntry(() => current.entry, program.root),
        projectSources(program, sdk, () => current.schemas, originals),
      ],
    })
    context = { hasDatabase, esbuild: created }
    return created
  }

  async function run(linked: Linked, hasDatabase: boolean) {
    current = { schemas: linked.schemas, entry: entrySource(linked, hasDatabase, runtime, program.root) }
    return (await contextFor(hasDatabase)).rebuild()
  }

  return {
    async bundle(linked) {
      try {
        let result = await run(linked, linked.usesDatabase)
        // a package may use the SDK, and with it the database
        if (!linked.usesDatabase && isUsedByPackage(result.metafile, sdk, program)) result = await run(linked, true)
        const inputs = Object.keys(result.metafile.inputs)
          .filter((file) => !file.startsWith('stack-entry:'))
          .map((file) => path.resolve(program.root, file))
        const refusals = inspect({ ...result, program, budget })
        if (refusals.some(({ severity }) => severity === 'error')) return { files: [], refusals, inputs }
        const files = result.outputFiles.map(({ path: file, contents }) => {
          const name = path.basename(file)
          const isMap = name.endsWith('.map')
          return { name, made: contents, contents: () => (isMap ? withOriginals(contents, file, originals) : contents) }
        })
        return { files, refusals, inputs }
      } catch (error) {
        if (!(error instanceof Error && 'errors' in error)) throw error
        return { files: [], refusals: failures(error.errors as esbuild.Message[], program, linked.schemas), inputs: [] }
      }
    },
    async survey(files) {
      const lines = files.map((file, index) => `export * as file${index} from ${JSON.stringify(file)}`)
      current = { schemas: [], entry: [`import ${JSON.stringify(runtime.worker)}`, ...lines].join('\n') }
      try {
        const found = inspect({ ...(await (await contextFor(false)).rebuild()), program, budget })
        // a decorator that was refused is still there
        return found.filter(({ slug }) => slug !== 'decorator-as-value')
      } catch (error) {
        if (!(error instanceof Error && 'errors' in error)) throw error
        const messages = error.errors as esbuild.Message[]
        const failed = new Set(messages.map(({ location }) => path.resolve(program.root, location?.file ?? '')))
        const others = files.filter((file) => !failed.has(file))
        const rest = others.length < files.length ? await this.survey(others) : []
        return [...failures(messages, program, []), ...rest]
      }
    },
    async close() {
      await context?.esbuild.dispose()
      context = undefined
    },
  }
}

function settings(root: string, folder: string) {
  return {
    absWorkingDir: root,
    entryNames: '[name]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    outdir: folder,
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'neutral',
    // a project's own decorators are the legacy kind too; where there is a tsconfig.json, it says so itself, and it alone
    ...(fs.existsSync(path.join(root, 'tsconfig.json'))
      ? { tsconfig: path.join(root, 'tsconfig.json') }
      : { tsconfigRaw: { compilerOptions: { experimentalDecorators: true } } }),
    mainFields: ['module', 'main'],
    resolveExtensions: ['.ts', '.tsx', '.mts', '.js', '.jsx', '.mjs', '.json'], // in TypeScript's order
    conditions: ['workerd', 'worker', 'import'],
    target: 'es2024',
    minify: true,
    sourcemap: 'linked',
    sourcesContent: false, // the originals are put in below
    external: ['node:*', 'cloudflare:*'],
    loader: { '.wasm': 'copy' },
    logLevel: 'silent',
    logOverride: { 'import-is-undefined': 'error' },
  } as const satisfies esbuild.BuildOptions
}

/** Whether something beside the project and this package imports the SDK. */
function isUsedByPackage({ inputs }: esbuild.Metafile, sdk: string, { root, sources }: Program): boolean {
  return Object.entries(inputs).some(([file, { imports }]) => {
    const absolute = path.resolve(root, file)
    const isKnown = absolute.startsWith(path.dirname(path.dirname(sdk))) || file.startsWith('stack-entry:')
    return !isKnown && !sources.isRead(absolute) && imports.some(({ path: to }) => path.resolve(root, to) === sdk)
  })
}

function generatedEntry(contents: () => string, resolveDir: string): esbuild.Plugin {
  return {
    name: 'stack-entry',
    setup(build) {
      build.onResolve({ filter: /^stack:entry$/ }, ({ path }) => ({ path, namespace: 'stack-entry' }))
      build.onLoad({ filter: /.*/, namespace: 'stack-entry' }, () => ({
        contents: contents(),
        resolveDir,
        loader: 'js',
      }))
    },
  }
}

/** Resolves the SDK to this very copy, so that there is one request scope, and erases decorators on the way in. */
export function projectSources(
  program: Program,
  sdk: string,
  schemas: () => Linked['schemas'],
  originals: Map<string, string>,
): esbuild.Plugin {
  return {
    name: 'stack-project',
    setup(build) {
      build.onResolve({ filter: /^@stack\/backend$/ }, () => ({ path: sdk, sideEffects: false }))
      // where there are both, TypeScript means the .ts by `./x.js`, and esbuild the .js
      build.onResolve({ filter: /^\.{1,2}\/.*\.jsx?$/ }, ({ path: specifier, importer }) => {
        if (!program.sources.isRead(importer)) return undefined
        const file = program.imported(program.sources.read(importer), specifier)
        return file && { path: path.join(program.root, file.path) }
      })
      build.onLoad({ filter: /\.[cm]?tsx?$/ }, ({ path: file }) => {
        const isInstalled = path.relative(program.root, file).split(path.sep).includes('node_modules')
        if (isInstalled) return undefined
        const isProject = file.startsWith(program.root + path.sep)
        const isKnown = program.sources.isRead(file)
        const text = isKnown ? program.sources.textOf(file) : withoutMark(fs.readFileSync(file, 'utf8'))
        originals.delete(file)
        const loader = file.endsWith('x') ? 'tsx' : 'ts'
        const isPlain = !text.includes('@') || !(isProject || text.includes(sdkName))
        // what was judged is what is bundled, also when the file is another by now
        if (isPlain) return isKnown ? { contents: text, loader } : undefined
        const source = program.sources.read(file)
        const decorators = source.decorators.filter(
          (decorator) => program.sdkDecorator(source, decorator) !== undefined,
        )
        if (decorators.length === 0) return { contents: text, loader }
        originals.set(file, text)
        const spans = decorators.map(({ place: { start, end }, onMember }) => ({ start, end, onMember }))
        return { contents: erase(text, spans) + schemaExports(text, source.path, schemas()), loader }
      })
    },
  }
}

/** A map that quotes its sources quotes them as they were written, decorators included. Large maps are not parsed whole. */
function* withOriginals(contents: Uint8Array, file: string, originals: ReadonlyMap<string, string>): Iterable<string> {
  const text = new TextDecoder().decode(contents)
  const [list = '[]'] = /(?<="sources": )\[[^\]]*\]/.exec(text) ?? []
  const at = text.indexOf(list) + list.length
  yield `${text.slice(0, at)},\n  "sourcesContent": [`
  for (const [index, source] of (JSON.parse(list) as string[]).entries()) {
    const absolute = path.resolve(path.dirname(file), source)
    const original = originals.get(absolute) ?? (fs.existsSync(absolute) ? fs.readFileSync(absolute, 'utf8') : null)
    yield `${index === 0 ? '' : ', '}${JSON.stringify(original)}`
  }
  yield `]${text.slice(at)}`
}
