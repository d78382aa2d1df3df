/**
 * Describes what handlers return, as JSON Schema: the types that TypeScript's checker infers, after JSON.stringify. It is
 * the only part of a build that needs the checker of the whole project, so it runs in steps beside the bundler.
 */
import path from 'node:path'
import type { ts as TS } from 'ts-morph'
import type { Linked } from '../link/index.ts'
import type { Program } from '../program.ts'
import type { SourceTexts } from '../sources.ts'
import type { Steps } from '../steps.ts'
import { projectConfiguration } from '../tsconfig.ts'
import { ts } from '../typescript.ts'
import type { Json } from './json.ts'
import { type JsonType, JsonTypes } from './json-types.ts'
import { TypeHost, type TypeHostOptions } from './type-host.ts'

export interface HandlerTypes {
  /** Results of the handlers, by route. A handler that returns `undefined` is answered 204. */
  results: JsonType[]
  /** Declared types of body parameters that have no schema, by route. */
  bodies: (Json | undefined)[]
  /** Input types of the schemas that were asked for, by schema. */
  inputs: (Json | undefined)[]
  /** Named types that the others refer to, by name. */
  definitions: Record<string, Json>
  /** Absolute paths of the sources and declarations that decided this. Files of installed packages are left out. */
  files: string[]
}

/** The types of one project at one moment. */
export interface OpenedTypes {
  /** @param asked indexes of the schemas whose input types are needed. @param reserved names that no definition may have. */
  read(asked: ReadonlySet<number>, reserved: readonly string[]): Steps<HandlerTypes>
}

interface Configuration {
  /** Generation and file set of the program for which this was read. */
  key: string
  options: TS.CompilerOptions
  ambient: string[]
}

export class HandlerTypeReader {
  readonly #program: Program
  readonly #host: TypeHost
  readonly #isLast: boolean
  #configuration: Configuration | undefined
  /** The previous program, from which TypeScript takes every file whose text and imports are the same. */
  #previous: { key: string; opened: TS.Program } | undefined

  /** @param isLast the types are read once, so nothing is kept. */
  constructor(program: Program, options: TypeHostOptions, isLast: boolean) {
    this.#program = program
    this.#host = new TypeHost(options)
    this.#isLast = isLast
  }

  /** Parses and binds the files that the handlers need. */
  *open(linked: Linked, texts: SourceTexts): Steps<OpenedTypes> {
    const { root } = this.#program
    const { key, options, ambient } = this.#configured()
    const used = new Set(linked.table.routes.map(({ controller }) => linked.classes[controller]!.file))
    const roots = [...[...used].sort().map((file) => path.join(root, file)), ...ambient, this.#host.rolesFile]
    // After a file came or went an import may lead elsewhere, which TypeScript would not notice.
    const previous = this.#previous?.key === key ? this.#previous.opened : undefined
    const opened = ts.createProgram(roots, options, this.#host.compilerHost(options, texts), previous)
    if (!this.#isLast) this.#previous = { key, opened }
    yield
    const checker = opened.getTypeChecker()
    yield
    return { read: (asked, reserved) => this.#read(linked, opened, checker, asked, reserved) }
  }

  #configured(): Configuration {
    const { root } = this.#program
    const key = `${this.#program.generation()} ${this.#program.fileSet()}`
    if (this.#configuration?.key === key) return this.#configuration
    const { options, ambient } = projectConfiguration(root)
    const generated = path.join(root, '.stack') + path.sep
    this.#configuration = { key, options, ambient: ambient.filter((file) => !file.startsWith(generated)) }
    return this.#configuration
  }

  *#read(
    linked: Linked,
    opened: TS.Program,
    checker: TS.TypeChecker,
    asked: ReadonlySet<number>,
    reserved: readonly string[],
  ): Steps<HandlerTypes> {
    const { root } = this.#program
    const types = new JsonTypes(opened, checker, reserved)
    const { routes } = linked.table
    const methods: (TS.Signature | undefined)[] = []
    for (const { controller, handler } of routes) {
      methods.push(signatureOf(opened, checker, root, linked.classes[controller]!, handler))
      yield
    }
    const results: JsonType[] = []
    for (const method of methods) {
      results.push(resultOf(method, checker, types))
      yield
    }
    const bodies = routes.map(({ parameters }, index) => {
      const body = parameters.findIndex((one) => one.from === 'body' && one.schema === undefined)
      const declared = body === -1 ? undefined : methods[index]?.getParameters()[body]
      return declared && types.of(checker.getTypeOfSymbol(declared)).schema
    })
    const inputs: (Json | undefined)[] = []
    for (const [index, { place }] of linked.schemas.entries()) {
      const file = asked.has(index) ? opened.getSourceFile(path.join(root, place.file)) : undefined
      const node = file && nodeAt(file, place)
      const input = node && inputOf(checker.getTypeAtLocation(node), checker)
      inputs.push(input && types.of(input).schema)
      yield
    }
    const files = opened.getSourceFiles().map(({ fileName }) => fileName)
    return {
      results,
      bodies,
      inputs,
      definitions: types.definitions,
      files: files.filter((file) => file !== this.#host.rolesFile && !file.includes('/node_modules/')),
    }
  }
}

function signatureOf(
  program: TS.Program,
  checker: TS.TypeChecker,
  root: string,
  { file, name }: Linked['classes'][number],
  handler: string,
): TS.Signature | undefined {
  const declaration = program
    .getSourceFile(path.join(root, file))
    ?.statements.find((one): one is TS.ClassDeclaration => ts.isClassDeclaration(one) && one.name?.text === name)
  const symbol = declaration?.name && checker.getSymbolAtLocation(declaration.name)
  const method = symbol && checker.getPropertyOfType(checker.getDeclaredTypeOfSymbol(symbol), handler)
  return method && checker.getTypeOfSymbol(method).getCallSignatures().at(-1)
}

function resultOf(signature: TS.Signature | undefined, checker: TS.TypeChecker, types: JsonTypes): JsonType {
  const result = signature && checker.getAwaitedType(signature.getReturnType())
  return result ? types.of(result) : { schema: {}, isOptional: false, unrepresentable: [] }
}

/** The type of `~standard.types.input` of a Standard Schema. */
function inputOf(schema: TS.Type, checker: TS.TypeChecker): TS.Type | undefined {
  let type: TS.Type | undefined = schema
  for (const name of ['~standard', 'types', 'input']) {
    const member: TS.Symbol | undefined = type && checker.getPropertyOfType(checker.getNonNullableType(type), name)
    type = member && checker.getTypeOfSymbol(member)
  }
  return type
}

function nodeAt(file: TS.SourceFile, { start, end }: { start: number; end: number }): TS.Node | undefined {
  const find = (node: TS.Node): TS.Node | undefined => {
    if (node.getStart(file) === start && node.end === end && ts.isExpression(node)) return node
    return node.pos <= start && node.end >= end ? ts.forEachChild(node, find) : undefined
  }
  return ts.forEachChild(file, find)
}
