/**
 * Reads the JSON Schema of what a project's schemas take: by Standard JSON Schema (standardschema.dev), and for valibot by
 * its own converter.
 */
import { SourceMap } from 'node:module'
import path from 'node:path'
import type { Span } from '../declaration.ts'
import type { Linked } from '../link/index.ts'
import type { BoundSchema } from '../link/schemas.ts'
import { located } from '../locate.ts'
import type { Program } from '../program.ts'
import { type Refusal, refusal } from '../refusals/index.ts'
import type { Json } from './json.ts'
import { type Answered, marker, type OpaquePart } from './json-schemas.thread.ts'
import { bundleSchemas, evaluate, limitMs, type Outcome } from './schema-evaluation.ts'

/** The result of evaluating one schema. */
export interface EvaluatedSchema {
  /** JSON Schema of the input. Absent where the schema's library does not offer it. */
  input?: Json
  /** JSON Pointers into `input` of the parts that JSON Schema cannot describe. They are open in `input`. */
  opaque: ReadonlySet<string>
  /** The schema takes `undefined`, so the parameter may be absent. */
  isOptional: boolean
}

interface SchemaReading {
  /** By the schema's index in the table. `undefined` where the schema was not evaluated. */
  evaluated: (EvaluatedSchema | undefined)[]
  refusals: Refusal[]
}

export class SchemaReader {
  readonly #program: Program
  readonly #sdk: string
  /** The previous evaluation. The same bundle gives the same outcome. */
  #last: { text: string; uses: string; outcome: Outcome } | undefined

  constructor(program: Program, packageRoot: string) {
    this.#program = program
    this.#sdk = path.join(packageRoot, 'src/sdk/index.ts')
  }

  async read({ schemas }: Linked): Promise<SchemaReading> {
    if (schemas.length === 0) return { evaluated: [], refusals: [] }
    const files: string[] = []
    let text: string
    try {
      text = new TextDecoder().decode((await this.#bundle(schemas, files, false))[0])
    } catch {
      return { evaluated: [], refusals: [] } // The worker's own bundle fails for the same reason, which is reported there.
    }
    const injectors = schemas.map(({ injector }) => injector)
    const uses = injectors.join()
    const isKnown = this.#last?.text === text && this.#last.uses === uses
    const outcome = isKnown ? this.#last!.outcome : await evaluate(text, injectors)
    this.#last = { text, uses, outcome }
    if (outcome.answers) return readingOf(outcome.answers, schemas, this.#program)
    const place = await this.#placeOf(outcome, files, schemas)
    const reason = outcome.reason ?? `it did not end within ${limitMs / 1000} seconds`
    const failed = located(refusal('schema-not-evaluated', place, { reason }), this.#program)
    return { evaluated: [], refusals: [failed] }
  }

  #bundle(schemas: readonly BoundSchema[], files: string[], withMap: boolean): Promise<Uint8Array[]> {
    return bundleSchemas({ program: this.#program, sdk: this.#sdk, schemas, files, withMap })
  }

  /** Where the evaluation failed: the line that threw, or else the file or the schema that was being evaluated. */
  async #placeOf(
    { at, frames = [] }: Outcome,
    files: readonly string[],
    schemas: readonly BoundSchema[],
  ): Promise<Span> {
    if (at < 0) return schemas[-at - 1]!.place
    const { root, sources } = this.#program
    const outputs = frames.length > 0 ? await this.#bundle(schemas, [], true).catch(() => []) : []
    const map = outputs.length > 1 ? new SourceMap(JSON.parse(new TextDecoder().decode(outputs[0]))) : undefined
    for (const [line, column] of map ? frames : []) {
      const entry = map!.findEntry(line - 1, column - 1) as { originalSource?: string; originalLine: number }
      const file = path.resolve(root, entry.originalSource ?? '')
      const start = sources.isRead(file) && sources.lineStartsOf(file)[entry.originalLine]
      if (typeof start !== 'number') continue
      const source = sources.textOf(file).slice(start)
      const indent = source.length - source.trimStart().length
      const end = start + (/^.*/.exec(source)?.[0].trimEnd().length ?? 0)
      return { file: sources.nameOf(file), start: Math.min(start + indent, end), end }
    }
    const file = files[at]
    return file === undefined ? schemas[0]!.place : { file: sources.nameOf(file), start: 0, end: 0 }
  }
}

function readingOf(answers: readonly Answered[], schemas: readonly BoundSchema[], program: Program): SchemaReading {
  const refusals: Refusal<Span>[] = []
  const evaluated = answers.map((answer, index) => {
    const { place, injector } = schemas[index]!
    if (answer.found !== undefined) {
      refusals.push(refusal('schema-value-not-standard', place, { injector, found: answer.found }))
      return undefined
    }
    const input = answer.input === undefined ? undefined : (JSON.parse(answer.input) as Json)
    const opaque = new Map<string, OpaquePart>()
    if (input) collectMarkers(input, '', opaque)
    const refused = textRefusedBy(injector, answer, opaque)
    const unsaid = [...opaque]
      .filter(([, { isDescribed }]) => !isDescribed)
      .map(([at, { kind }]) => `${nameOf(at)} (${kind})`)
    if (refused !== undefined) refusals.push(refusal('text-refused-by-schema', place, { injector, takes: refused }))
    else if (answer.failure !== undefined)
      refusals.push(refusal('schema-partly-unsaid', place, { unsaid: `all of it (${answer.failure})` }))
    else if (unsaid.length > 0) refusals.push(refusal('schema-partly-unsaid', place, { unsaid: listed(unsaid) }))
    return { ...(input ? { input } : {}), opaque: new Set(opaque.keys()), isOptional: answer.isOptional }
  })
  return { evaluated, refusals: refusals.map((one) => located(one, program)) }
}

/** The type that the schema of a text parameter takes instead of text, where the build cannot convert text to it. */
function textRefusedBy(
  injector: string,
  { takes, input }: Answered,
  opaque: ReadonlyMap<string, OpaquePart>,
): string | undefined {
  if (injector === 'Body') return undefined
  if (injector === 'Query object') {
    const found = [...opaque].filter(([at, { isText }]) => !isText && /^\/properties\/[^/]+$/.test(at))
    return found.length > 0 ? listed(found.map(([at, { kind }]) => `${kind} as ${nameOf(at)}`)) : undefined
  }
  return takes !== undefined && (input === undefined || opaque.has('')) ? takes : undefined
}

/** Removes the thread's markers from a schema, and notes their places. */
function collectMarkers(schema: unknown, at: string, found: Map<string, OpaquePart>): void {
  if (typeof schema !== 'object' || schema === null) return
  const own = schema as Json
  const mark = own[marker] as OpaquePart | undefined
  if (mark) {
    delete own[marker]
    found.set(at, mark)
  }
  for (const [key, inner] of Object.entries(own)) {
    collectMarkers(inner, `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, found)
  }
}

/** A JSON Pointer in the notation of messages: `/properties/a/items` is `a[]`. */
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

/** Largest number of places that one message lists. */
const mostListed = 5

function listed(items: readonly string[]): string {
  const more = items.length - mostListed
  return items.slice(0, mostListed).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
