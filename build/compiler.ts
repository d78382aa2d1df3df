/** One project, read, checked, linked and emitted: once, or again after each change. */
import path from 'node:path'
import { applicationOf } from './application.ts'
import { collectGarbage } from './collect.ts'
import type { Span } from './declaration.ts'
import { bindingsFile } from './emit/bindings.ts'
import { Bundler, type OutputFile } from './emit/bundle.ts'
import { withCoercions } from './emit/coercions.ts'
import { type TypedDocuments, tableDocuments, typedDocuments } from './emit/documents.ts'
import { HandlerTypeReader } from './emit/handler-types.ts'
import { type EvaluatedSchema, SchemaReader } from './emit/json-schemas.ts'
import { sizeOf } from './emit/report.ts'
import { staleIn, type Written, writeTogether } from './emit/write.ts'
import { type Linked, link } from './link/index.ts'
import { located } from './locate.ts'
import type { BuildOptions, BuildResult } from './options.ts'
import { Program } from './program.ts'
import { isLost } from './read/imports.ts'
import { createReader } from './read/index.ts'
import { migrationsOf } from './read/migrations.ts'
import type { Refusal } from './refusals/index.ts'
import { byPlace, checkApplication } from './refuse/index.ts'
import type { SourceTexts } from './sources.ts'
import { runSteps, type StepOptions } from './steps.ts'

/** A project that was checked and not refused. */
export interface Checked {
  /** Warnings. */
  refusals: Refusal[]
  linked: Linked
}

/** A worker that was written, and the documents that are not written yet. */
export interface WorkerResult extends BuildResult {
  /**
   * Makes and writes the documents that need the type checker. It uses the texts that were checked, also after a later
   * check. Resolves to `undefined` if it was aborted. Absent where there is no worker, and for the auth module.
   */
  writeDocuments?: (options: StepOptions) => Promise<WrittenDocuments | undefined>
}

interface WrittenDocuments {
  /** Warnings that only the documents draw. */
  refusals: Refusal[]
  /** Absolute paths of the project's files that decided the documents. */
  inputs: string[]
}

interface Evaluated {
  /** With the conversions of text that follow from the schemas. */
  linked: Linked
  schemas: (EvaluatedSchema | undefined)[]
  refusals: Refusal[]
}

interface BundledWorker {
  linked: Linked
  /** Empty when refused. */
  files: OutputFile[]
  refusals: Refusal[]
  inputs: string[]
}

/** From this number of files on, the sources that were read and the results of esbuild would be large together. */
const manyFiles = 2000

const packageRoot = path.resolve(import.meta.dirname, '..')

/** Builds a project again and again: files that did not change are not read again. */
export class Compiler {
  readonly #options: BuildOptions & { isLast?: boolean }
  readonly #program: Program
  readonly #bundler: Bundler
  readonly #schemas: SchemaReader
  readonly #types: HandlerTypeReader
  #read: ReturnType<typeof createReader>

  /** @param options with `isLast` there is one check, and the memory that a second one would need is freed before bundling. */
  constructor(options: BuildOptions & { isLast?: boolean }) {
    const { root, entry, project, budgetKib = Number.POSITIVE_INFINITY, isLast = false } = options
    this.#options = options
    this.#program = new Program(root, entry)
    this.#read = createReader(this.#program)
    const budget = budgetKib * 1024
    this.#bundler = new Bundler({
      program: this.#program,
      packageRoot,
      folder: this.#folder,
      budget,
      nodeModules: options.nodeModules ?? [],
    })
    this.#schemas = new SchemaReader(this.#program, packageRoot)
    const roles = (project?.roles ?? []).map(({ name }) => name)
    this.#types = new HandlerTypeReader(this.#program, { root, packageRoot, roles }, isLast)
  }

  /** Absolute path of the folder for the worker's modules. */
  get #folder(): string {
    return path.join(this.#options.out, 'out')
  }

  /** @param touched absolute paths of all files that have changed since the previous check. */
  check(touched?: ReadonlySet<string>): { refusals: Refusal[]; linked: Linked | undefined } {
    if (touched) this.#program.refresh(touched)
    const { reserved, administered, project, databaseRoles, maxBodyBytes, rpc = [], keys, isLast } = this.#options
    const application = applicationOf(this.#read())
    const found = checkApplication(application, { reserved, administered, roles: project?.roles ?? [] })
    const refusals = found.map((one) => located(one, this.#program))
    const linked = hasError(refusals) ? undefined : link(application, { databaseRoles, maxBodyBytes, rpc, keys })
    if (linked && isLast) {
      this.#program.sources.trim()
      this.#read = createReader(this.#program) // Frees the declarations that the old reader remembers.
    }
    return { refusals, linked }
  }

  /** The refusals that only bundling finds, for a project that is refused already. */
  async checkBundling(): Promise<Refusal[]> {
    const found = await this.#bundler.check(this.#soundFiles())
    // A sound file may import a file that is not sound. The imports that fail there are refused already.
    return found.filter(({ slug, place }) => slug !== 'bundle-failed' || !this.#isLostAt(place))
  }

  /** Bundles what was checked, and writes the worker and all documents together. */
  async emit(checked: Checked): Promise<BuildResult> {
    this.#freeMemory()
    const texts = this.#program.sources.snapshot()
    const ended = new AbortController()
    try {
      const evaluating = this.#evaluate(checked.linked)
      const bundling = this.#bundle(checked, evaluating)
      // esbuild is a process of its own. The type checker works while esbuild does.
      const describing = this.#describe(checked.linked, texts, evaluating, { signal: ended.signal })
      bundling.then(({ files }) => files.length === 0 && ended.abort()).catch(() => {})
      const [worker, described] = await Promise.all([bundling, describing])
      if (worker.files.length === 0) return { refusals: worker.refusals, built: undefined }
      return this.#write(worker, described)
    } finally {
      ended.abort()
    }
  }

  /** Bundles what was checked, and writes the worker. The documents that need the type checker are left for later. */
  async emitWorker(checked: Checked): Promise<WorkerResult> {
    const texts = this.#program.sources.snapshot()
    const evaluating = this.#evaluate(checked.linked)
    const worker = await this.#bundle(checked, evaluating)
    if (worker.files.length === 0) return { refusals: worker.refusals, built: undefined }
    return {
      ...this.#write(worker, undefined),
      writeDocuments: async (options) => {
        const described = await this.#describe(checked.linked, texts, evaluating, options)
        if (!described) return undefined
        writeTogether(this.#filesOf(described.files))
        return described
      },
    }
  }

  /** Absolute paths of all sources that were read. */
  reads(): string[] {
    return this.#program.sources.absolutes()
  }

  async close(): Promise<void> {
    await this.#bundler.close()
  }

  /** Evaluates the schemas where the table or the documents need them. */
  async #evaluate(linked: Linked): Promise<Evaluated> {
    const isNeeded = this.#options.project !== undefined || linked.schemas.some(({ injector }) => injector !== 'Body')
    if (!isNeeded) return { linked, schemas: [], refusals: [] }
    const { evaluated, refusals } = await this.#schemas.read(linked)
    return { linked: withCoercions(linked, evaluated), schemas: evaluated, refusals }
  }

  async #bundle(checked: Checked, evaluating: Promise<Evaluated>): Promise<BundledWorker> {
    const evaluated = await evaluating
    const bundled = await this.#bundler.bundle(evaluated.linked)
    const refusals = [...checked.refusals, ...evaluated.refusals, ...bundled.refusals].sort(byPlace)
    const files = hasError(refusals) ? [] : bundled.files
    return { linked: evaluated.linked, files, refusals, inputs: bundled.inputs }
  }

  async #describe(
    linked: Linked,
    texts: SourceTexts,
    evaluating: Promise<Evaluated>,
    options: StepOptions,
  ): Promise<TypedDocuments | undefined> {
    const { root, project } = this.#options
    if (!project) return undefined
    const types = await runSteps(this.#types.open(linked, texts), options)
    const { linked: coerced, schemas } = await evaluating
    if (!types) return undefined
    const { name, answers } = project
    return runSteps(typedDocuments(coerced, { name, root, texts, evaluated: schemas, types, answers }), options)
  }

  /** Writes the worker, and the documents with it where there are any. */
  #write({ linked, files, refusals, inputs }: BundledWorker, described: TypedDocuments | undefined): BuildResult {
    const { out, project } = this.#options
    const { table } = linked
    const hasDatabase = files.some(({ name }) => name === 'driver.js')
    const documents = [
      ...(project ? tableDocuments(table, project, hasDatabase) : []),
      ...(described ? described.files : []),
    ]
    const written: Written[] = [
      { file: path.join(out, 'table.json'), contents: () => `${JSON.stringify(table, undefined, 2)}\n` },
      ...this.#filesOf(documents),
      // The worker is renamed last, because it refers to the other modules.
      ...files
        .sort((a, b) => Number(a.name === 'worker.js') - Number(b.name === 'worker.js'))
        .map(({ name, contents }) => ({ file: path.join(this.#folder, name), contents })),
    ]
    // The bindings are the only document that a project may cease to need.
    const needsBindings = documents.some(({ name }) => name === bindingsFile)
    const removed = [
      ...staleIn(this.#folder, new Set(files.map(({ name }) => name))),
      ...(needsBindings ? [] : [path.join(out, bindingsFile)]),
    ]
    writeTogether(written, { folder: out, removed })
    const scripts = files.filter(({ name }) => !name.endsWith('.map'))
    return {
      refusals: [...refusals, ...(described?.refusals ?? [])].sort(byPlace),
      built: {
        table,
        sizes: scripts.map(({ name, made }) => sizeOf(name, made)),
        inputs: this.#inputs([...inputs, ...(described?.inputs ?? [])]),
        outputs: written.map(({ file }) => file),
        isSelfContained: this.#program.isSelfContained(),
      },
    }
  }

  #filesOf(documents: readonly { name: string; contents: () => string }[]): Written[] {
    return documents.map(({ name, contents }) => ({ file: path.join(this.#options.out, name), contents }))
  }

  #inputs(others: readonly string[]): string[] {
    const { sources, root } = this.#program
    return [...new Set([...others, ...sources.absolutes(), ...this.#program.configurations(), ...migrationsOf(root)])]
  }

  #freeMemory(): void {
    if (this.#options.isLast && this.#program.sources.listed.length > manyFiles) collectGarbage()
  }

  /** Files that parse and whose imports lead somewhere. The other files are refused already. */
  #soundFiles(): string[] {
    return this.#program.sources.listed.filter((absolute) => {
      const file = this.#program.sources.read(absolute)
      return !file.failure && file.errors.length === 0 && !file.needs.some((need) => isLost(this.#program, file, need))
    })
  }

  #isLostAt({ file: name, start }: Span): boolean {
    const absolute = path.join(this.#program.root, name)
    if (!this.#program.sources.isRead(absolute)) return false
    const file = this.#program.sources.read(absolute)
    return file.needs.some((need) => need.place.start === start && isLost(this.#program, file, need))
  }
}

function hasError(refusals: readonly Refusal[]): boolean {
  return refusals.some(({ severity }) => severity === 'error')
}
