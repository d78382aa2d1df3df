/**
 * What a project's schemas take, as JSON Schema (Standard JSON Schema, standardschema.dev; valibot by its own converter).
 * Schemas are values of the project's code, so that code is evaluated: bundled by itself, in a thread that has nothing of
 * this process's environment, for a few seconds at most.
 */
import { SourceMap } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type esbuild from 'esbuild'
import type { Span } from '../declaration.ts'
import type { Linked } from '../link/index.ts'
import type { BoundSchema } from '../link/schemas.ts'
import type { Program } from '../program.ts'
import { type Refusal, refusal } from '../refusals/index.ts'
import { projectSources } from './bundle.ts'
import { located } from './inspect.ts'
import { type Answered, marker, threadSource } from './json-schemas.thread.ts'
import { schemaName } from './schemas.ts'

export type Json = Record<string, unknown>

/** What the evaluation tells of one schema. */
export interface SchemaFacts {
  /** What it takes; absent where its library does not say. */
  input?: Json
  /** Places in `input` whose text is not what it takes, as JSON Pointers: only what is there says what becomes of it. */
  opaque: ReadonlySet<string>
  /** It takes `undefined`: the parameter need not be there. */
  isOptional: boolean
}

interface SchemaReading {
  /** By the schema's index in the table; `undefined` where it was not evaluated. */
  facts: (SchemaFacts | undefined)[]
  refusals: Refusal[]
}

export interface SchemaReader {
  read(linked: Linked): Promise<SchemaReading>
}

/** Milliseconds that the project's code may take: evaluating modules takes a fraction of a second, also large ones. */
const limitMs = 5_000

/** MiB that the project's code may allocate: arktype takes about 60. */
const memoryMib = 512

const converter = fileURLToPath(import.meta.resolve('@valibot/to-json-schema'))

export function createSchemaReader(program: Program, packageRoot: string): SchemaReader {
  const { root } = program
  const sdk = path.join(packageRoot, 'src/sdk/index.ts')
  let last: { text: string; uses: string; outcome: Outcome } | undefined

  async function bundle(schemas: readonly BoundSchema[], files: string[], withMap: boolean): Promise<Uint8Array[]> {
    const imports = schemas.map(
      ({ place }, index) =>
        `import { ${schemaName(index)} as schema${index} } from ${JSON.stringify(path.join(root, place.file))}`,
    )
    const list = `export const schemas = [${schemas.map((_, index) => `schema${index}`).join(', ')}]`
    const { build } = await import('esbuild')
    const { outputFiles } = await build({
      stdin: { contents: [...imports, list].join('\n'), resolveDir: root, loader: 'js' },
      absWorkingDir: root,
      outfile: path.join(root, 'schemas.js'), // never written
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
        marked(
          projectSources(program, sdk, () => [...schemas], new Map()),
          files,
        ),
      ],
    })
    return outputFiles.map(({ contents }) => contents)
  }

  return {
    async read({ schemas }) {
      if (schemas.length === 0) return { facts: [], refusals: [] }
      const files: string[] = []
      let text: string
      try {
        text = new TextDecoder().decode((await bundle(schemas, files, false))[0])
      } catch {
        return { facts: [], refusals: [] } // the worker's own bundle fails as well, and says why
      }
      const uses = schemas.map(({ injector }) => injector)
      const isKnown = last?.text === text && last.uses === uses.join()
      const outcome = isKnown ? last!.outcome : await evaluate(text, uses)
      last = { text, uses: uses.join(), outcome }
      if (outcome.answers) return factsOf(outcome.answers, schemas, program)
      const place = await placeOf(outcome, files, schemas, () => bundle(schemas, [], true))
      const reason = outcome.reason ?? `it did not end within ${limitMs / 1000} seconds`
      return { facts: [], refusals: [located(refusal('schema-not-evaluated', place, { reason }), program)] }
    },
  }

  /** Where the evaluation failed: the line that threw, else the file or the schema that was being evaluated. */
  async function placeOf(
    { at, frames = [] }: Outcome,
    files: readonly string[],
    schemas: readonly BoundSchema[],
    mapped: () => Promise<Uint8Array[]>,
  ): Promise<Span> {
    if (at < 0) return schemas[-at - 1]!.place
    const whole = (file: string): Span => ({ file: program.sources.nameOf(file), start: 0, end: 0 })
    const outputs = frames.length > 0 ? await mapped().catch(() => []) : []
    const map = outputs.length > 1 ? new SourceMap(JSON.parse(new TextDecoder().decode(outputs[0]))) : undefined
    for (const [line, column] of map ? frames : []) {
      const entry = map!.findEntry(line - 1, column - 1) as { originalSource?: string; originalLine: number }
      const file = path.resolve(root, entry.originalSource ?? '')
      const start = program.sources.isRead(file) && program.sources.lineStartsOf(file)[entry.originalLine]
      if (typeof start !== 'number') continue
      const source = program.sources.textOf(file).slice(start)
      const indent = source.length - source.trimStart().length
      const end = start + (/^.*/.exec(source)?.[0].trimEnd().length ?? 0)
      return { file: program.sources.nameOf(file), start: Math.min(start + indent, end), end }
    }
    const file = files[at]
    return file === undefined ? schemas[0]!.place : whole(file)
  }
}

/** Files say that their turn has come: of an evaluation that does not end, nothing else would be known. */
function marked(plugin: esbuild.Plugin, files: string[]): esbuild.Plugin {
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

/** Modules of the Workers runtime: every name is a class, and there is no binding. */
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

interface Outcome {
  answers?: Answered[]
  /** Why there are none; absent when the time was over. */
  reason?: string
  /** Lines and columns of the bundle, innermost first. */
  frames?: [number, number][]
  /** Which file was being evaluated; below 0, which schema: -1 is the first. */
  at: number
}

function evaluate(text: string, uses: readonly string[]): Promise<Outcome> {
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

function factsOf(answers: readonly Answered[], schemas: readonly BoundSchema[], program: Program): SchemaReading {
  const refusals: Refusal<Span>[] = []
  const facts = answers.map((answer, index) => {
    const { place, injector } = schemas[index]!
    if (answer.found !== undefined) {
      refusals.push(refusal('schema-value-not-standard', place, { injector, found: answer.found }))
      return undefined
    }
    const input = answer.input === undefined ? undefined : (JSON.parse(answer.input) as Json)
    const opaque = new Map<string, { kind: string; isText: boolean; says: boolean }>()
    if (input) collectMarkers(input, '', opaque)
    const refused = textRefusedBy(injector, answer, opaque)
    const unsaid = [...opaque].filter(([, { says }]) => !says).map(([at, { kind }]) => `${nameOf(at)} (${kind})`)
    if (refused !== undefined) refusals.push(refusal('text-refused-by-schema', place, { injector, takes: refused }))
    else if (answer.failure !== undefined)
      refusals.push(refusal('schema-partly-unsaid', place, { unsaid: `all of it (${answer.failure})` }))
    else if (unsaid.length > 0) refusals.push(refusal('schema-partly-unsaid', place, { unsaid: listed(unsaid) }))
    return { ...(input ? { input } : {}), opaque: new Set(opaque.keys()), isOptional: answer.isOptional }
  })
  return { facts, refusals: refusals.map((one) => located(one, program)) }
}

/** What a schema of text takes instead of text, where the build cannot convert. */
function textRefusedBy(
  injector: string,
  { takes, input }: Answered,
  opaque: ReadonlyMap<string, { kind: string; isText: boolean }>,
): string | undefined {
  if (injector === 'Body') return undefined
  if (injector === 'Query object') {
    const found = [...opaque].filter(([at, { isText }]) => !isText && /^\/properties\/[^/]+$/.test(at))
    return found.length > 0 ? listed(found.map(([at, { kind }]) => `${kind} as ${nameOf(at)}`)) : undefined
  }
  return takes !== undefined && (input === undefined || opaque.has('')) ? takes : undefined
}

/** Takes the markers of the thread out of a schema, and notes where they stood. */
function collectMarkers(
  schema: unknown,
  at: string,
  found: Map<string, { kind: string; isText: boolean; says: boolean }>,
): void {
  if (typeof schema !== 'object' || schema === null) return
  const own = schema as Json
  const decorator = own[marker] as { kind: string; isText: boolean; says: boolean } | undefined
  if (decorator) {
    delete own[marker]
    found.set(at, decorator)
  }
  for (const [key, inner] of Object.entries(own)) {
    collectMarkers(inner, `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, found)
  }
}

/** `/properties/a/items` as people say it: `a[]`. */
function nameOf(at: string): string {
  const keys = at.split('/').slice(1)
  let name = ''
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]!
    if (key === 'properties') name += `${name && '.'}${keys[++index]?.replaceAll('~1', '/').replaceAll('~0', '~')}`
    else if (key === 'items' || key === 'prefixItems') name += '[]'
    else if (key === 'additionalProperties') name += '[…]'
  }
  return name === '' ? 'the whole value' : `"${name}"`
}

/** Number of places that one message lists. */
const mostListed = 5

function listed(items: readonly string[]): string {
  const more = items.length - mostListed
  return items.slice(0, mostListed).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
