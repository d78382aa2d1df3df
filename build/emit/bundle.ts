/** Bundles the worker, the database driver and other modules that load on demand: ES modules with source maps (contract 8.5). */
import * as fs from 'node:fs'
import path from 'node:path'
import type esbuild from 'esbuild'
import { sdkName } from '../declaration.ts'
import type { Linked } from '../link/index.ts'
import type { Program } from '../program.ts'
import type { Refusal } from '../refusals/index.ts'
import { withoutMark } from '../sources.ts'
import { checkBundle, checkMessages } from './check-bundle.ts'
import { entrySource, type RuntimeModules } from './entry.ts'
import { erase } from './erase.ts'
import { legend } from './legend.ts'
import { schemaExports } from './schemas.ts'

export interface OutputFile {
  /** `worker.js` */
  name: string
  /** The contents before the sources are added to a source map. */
  made: Uint8Array
  /** The contents as they are written. A source map gets the texts of its sources, which esbuild does not have. */
  contents: () => Uint8Array | Iterable<string>
}

interface Bundled {
  /** Empty when the bundle was refused. */
  files: OutputFile[]
  refusals: Refusal[]
  /** Absolute paths of all files in the bundle. */
  inputs: string[]
}

export interface BundlerOptions {
  program: Program
  /** Absolute path of this package. */
  packageRoot: string
  /** The folder that the files will be written to. Source maps refer to their sources from there. */
  folder: string
  /** Largest compressed size of the worker in bytes. */
  budget: number
  /** Modules of Node that packages may import without the prefix `node:`. */
  nodeModules: readonly string[]
}

const entryName = 'stack:entry'

type Context = esbuild.BuildContext<{ write: false; metafile: true }>

/** Keeps a context of esbuild, so that a second bundle reuses the files that have not changed. */
export class Bundler {
  readonly #options: BundlerOptions
  readonly #sdk: string
  readonly #runtime: RuntimeModules
  /** Texts of the sources before their decorators were erased, by absolute path. */
  readonly #originals = new Map<string, string>()
  /** The plugins of the context read this while it builds. */
  #current: { schemas: Linked['schemas']; entry: string } = { schemas: [], entry: '' }
  #context: { hasDatabase: boolean; esbuild: Context } | undefined

  constructor(options: BundlerOptions) {
    this.#options = options
    this.#sdk = path.join(options.packageRoot, 'src/sdk/index.ts')
    this.#runtime = runtimeModules(options.packageRoot)
  }

  async bundle(linked: Linked): Promise<Bundled> {
    const { program, budget } = this.#options
    try {
      let result = await this.#build(linked, linked.usesDatabase)
      // A package may use the SDK, and the database through it.
      if (!linked.usesDatabase && isUsedByPackage(result.metafile, this.#sdk, program))
        result = await this.#build(linked, true)
      const inputs = Object.keys(result.metafile.inputs)
        .filter((file) => !file.startsWith('stack-entry:'))
        .map((file) => path.resolve(program.root, file))
      const refusals = checkBundle({ ...result, program, budget })
      if (refusals.some(({ severity }) => severity === 'error')) return { files: [], refusals, inputs }
      const head = legend(linked, program.entry)
      return { files: result.outputFiles.map((file) => this.#outputFile(file, head)), refusals, inputs }
    } catch (error) {
      return { files: [], refusals: checkMessages(messagesOf(error), program, linked.schemas), inputs: [] }
    }
  }

  /** The refusals of bundling in a project that is refused already, so that one run reports all. @param files absolute. */
  async check(files: readonly string[]): Promise<Refusal[]> {
    const { program, budget } = this.#options
    const lines = files.map((file, index) => `export * as file${index} from ${JSON.stringify(file)}`)
    const entry = [`import ${JSON.stringify(this.#runtime.worker)}`, ...lines].join('\n')
    this.#current = { schemas: [], entry }
    try {
      const context = await this.#contextFor(false)
      const found = checkBundle({ ...(await context.rebuild()), program, budget })
      // A decorator that was refused has not been erased.
      return found.filter(({ slug }) => slug !== 'decorator-as-value')
    } catch (error) {
      const messages = messagesOf(error)
      const failed = new Set(messages.map(({ location }) => path.resolve(program.root, location?.file ?? '')))
      const others = files.filter((file) => !failed.has(file))
      const rest = others.length < files.length ? await this.check(others) : []
      return [...checkMessages(messages, program, []), ...rest]
    }
  }

  async close(): Promise<void> {
    await this.#context?.esbuild.dispose()
    this.#context = undefined
  }

  async #build(linked: Linked, hasDatabase: boolean) {
    const entry = entrySource(linked, hasDatabase, this.#runtime, this.#options.program.root)
    this.#current = { schemas: linked.schemas, entry }
    return (await this.#contextFor(hasDatabase)).rebuild()
  }

  async #contextFor(hasDatabase: boolean): Promise<Context> {
    if (this.#context?.hasDatabase === hasDatabase) return this.#context.esbuild
    await this.#context?.esbuild.dispose()
    const { program, packageRoot, folder, nodeModules } = this.#options
    const driver = path.join(packageRoot, 'runtime/database/driver.ts')
    const created = await (await import('esbuild')).context({
      // The driver is imported on demand. As an entry of its own it keeps its name.
      entryPoints: { worker: entryName, ...(hasDatabase ? { driver } : {}) },
      ...settings(program.root, folder),
      alias: Object.fromEntries(nodeModules.map((name) => [name, `node:${name}`])),
      plugins: [
        generatedEntry(() => this.#current.entry, program.root),
        projectSources(program, this.#sdk, () => this.#current.schemas, this.#originals),
      ],
    })
    this.#context = { hasDatabase, esbuild: created }
    return created
  }

  /** @param head begins worker.js. */
  #outputFile({ path: file, contents }: esbuild.OutputFile, head: string): OutputFile {
    const name = path.basename(file)
    const made = name === 'worker.js' ? Buffer.concat([Buffer.from(head), contents]) : contents
    if (!name.endsWith('.map')) return { name, made, contents: () => made }
    const shift = name === 'worker.js.map' ? head.split('\n').length - 1 : 0
    return { name, made, contents: () => withSources(made, file, this.#originals, shift) }
  }
}

function runtimeModules(packageRoot: string): RuntimeModules {
  const part = (file: string) => path.join(packageRoot, file)
  return {
    worker: part('runtime/worker.ts'),
    transaction: part('runtime/database/transaction.ts'),
    pool: part('runtime/database/stack-pool.ts'),
    scope: part('src/sdk/scope.ts'),
    entrypoint: part('runtime/entrypoint.ts'),
    mirror: part('runtime/mirror.ts'),
    cors: part('runtime/cors.ts'),
    devices: part('runtime/devices/check.ts'),
    limits: part('runtime/limits.ts'),
    management: part('runtime/management.ts'),
    coerce: part('runtime/coerce.ts'),
    cron: part('runtime/cron.ts'),
    webhooks: part('runtime/webhooks'),
  }
}

/** @throws the error itself, unless it is a build that esbuild reports as failed. */
function messagesOf(error: unknown): esbuild.Message[] {
  if (!(error instanceof Error && 'errors' in error)) throw error
  return error.errors as esbuild.Message[]
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
    // A tsconfig.json sets `experimentalDecorators` itself. A project without one has legacy decorators, too.
    ...(fs.existsSync(path.join(root, 'tsconfig.json'))
      ? { tsconfig: path.join(root, 'tsconfig.json') }
      : { tsconfigRaw: { compilerOptions: { experimentalDecorators: true } } }),
    mainFields: ['module', 'main'],
    resolveExtensions: ['.ts', '.tsx', '.mts', '.js', '.jsx', '.mjs', '.json'], // TypeScript's order.
    conditions: ['workerd', 'worker', 'import'],
    target: 'es2024',
    minify: true,
    sourcemap: 'linked',
    sourcesContent: false, // `withSources` adds the original texts.
    external: ['node:*', 'cloudflare:*'],
    loader: { '.wasm': 'copy' },
    logLevel: 'silent',
    logOverride: { 'import-is-undefined': 'error' },
  } as const satisfies esbuild.BuildOptions
}

/** Whether a package imports the SDK. */
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

/** Resolves the SDK to this very copy, so that there is one request scope, and erases decorators from sources. */
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
      // If x.ts and x.js exist, TypeScript resolves `./x.js` to x.ts, and esbuild to x.js.
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
        // The text that was checked is bundled, even if the file has changed since.
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

/**
 * Adds `sourcesContent` to a source map: the sources before erasure. The map is not parsed, because it may be very large.
 * @param shift number of lines that were added above the code. A `;` in the mappings stands for each.
 */
function* withSources(
  contents: Uint8Array,
  file: string,
  originals: ReadonlyMap<string, string>,
  shift: number,
): Iterable<string> {
  const text = new TextDecoder().decode(contents)
  const [list = '[]'] = /(?<="sources": )\[[^\]]*\]/.exec(text) ?? []
  const at = text.indexOf(list) + list.length
  yield `${text.slice(0, at)},\n  "sourcesContent": [`
  for (const [index, source] of (JSON.parse(list) as string[]).entries()) {
    const absolute = path.resolve(path.dirname(file), source)
    const original = originals.get(absolute) ?? (fs.existsSync(absolute) ? fs.readFileSync(absolute, 'utf8') : null)
    yield `${index === 0 ? '' : ', '}${JSON.stringify(original)}`
  }
  const mappings = text.indexOf(mappingsKey, at) + mappingsKey.length
  yield `]${text.slice(at, mappings)}${';'.repeat(shift)}${text.slice(mappings)}`
}

/** The key of the mappings, as esbuild writes it, with the quote that begins them. */
const mappingsKey = '"mappings": "'
