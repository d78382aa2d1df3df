/** Finds what a name in a file stands for: through imports, re-exports, `export *` and aliases of types. */
import { type ClassId, sdkName } from './declaration.ts'
import type { DependencyTracker } from './dependencies.ts'
import type { Expression } from './expression.ts'
import type { SourceFile } from './source-file.ts'

/** The meaning of a name. */
export type Meaning =
  | { kind: 'class'; id: ClassId }
  | { kind: 'constant'; file: SourceFile; expression: Expression }
  | { kind: 'sdk'; name: string }
  | { kind: 'namespace'; file: SourceFile; from: string }
  | Foreign

/** A name that a package exports. */
export interface Foreign {
  kind: 'foreign'
  /** The file that imports the name. */
  file: SourceFile
  from: string
  name: string
  /** The file or package that the name comes from cannot be read or found. */
  isLost: boolean
}

export class Names {
  readonly #tracker: DependencyTracker

  constructor(tracker: DependencyTracker) {
    this.#tracker = tracker
  }

  /** Finds what the name of a type or a value stands for. `orders.Orders` is looked up in the namespace `orders`. */
  meaningOf(file: SourceFile, name: string): Meaning | undefined {
    const [namespace, member] = name.split('.') as [string, string?]
    const of = this.meaningOfName(file, namespace)
    if (member === undefined) return of
    return of?.kind === 'namespace' ? this.#exportedMeaning(of.file, of.from, member) : undefined
  }

  /** Finds what an expression stands for that is a name, or a member of a namespace. */
  meaningOfExpression(file: SourceFile, expression: Expression): Meaning | undefined {
    if (expression.kind === 'name') return this.meaningOfName(file, expression.name)
    if (expression.kind !== 'member') return undefined
    const of = this.meaningOfExpression(file, expression.of)
    return of?.kind === 'namespace' ? this.#exportedMeaning(of.file, of.from, expression.property) : undefined
  }

  /** @param seen exports that are being looked up already: two files may `export *` each other. */
  meaningOfName(file: SourceFile, name: string, seen?: Set<string>): Meaning | undefined {
    if (file.classes.some((candidate) => candidate.name === name)) return { kind: 'class', id: `${file.path}#${name}` }
    const expression = file.constants.get(name)
    if (expression) return { kind: 'constant', file, expression }
    const origin = file.imports.get(name)
    return origin && this.#exportedMeaning(file, origin.from, origin.name, seen)
  }

  /**
   * The names inside the alias or interface that a type's name stands for.
   * @param seen exports that are being looked up already: two files may `export *` each other.
   */
  namesInType(file: SourceFile, name: string, seen = new Set<string>()): string[] | undefined {
    const key = `${file.path}#${name}`
    if (seen.has(key)) return undefined
    seen.add(key)
    const own = file.types.get(name)
    if (own) return own
    const origin = file.imports.get(name) ?? file.exports.get(name)
    if (origin && 'from' in origin) {
      const from = this.#tracker.imported(file, origin.from)
      return from && this.namesInType(from, origin.name, seen)
    }
    if (origin && origin.local !== name) return this.namesInType(file, origin.local, seen)
    for (const star of file.stars) {
      const from = this.#tracker.imported(file, star)
      const found = from && this.namesInType(from, name, seen)
      if (found) return found
    }
    return undefined
  }

  /** Finds what `name` stands for in the module that `importer` imports as `specifier`. */
  #exportedMeaning(
    importer: SourceFile,
    specifier: string,
    name: string,
    seen = new Set<string>(),
  ): Meaning | undefined {
    if (name === '*') return { kind: 'namespace', file: importer, from: specifier }
    if (specifier === sdkName) return { kind: 'sdk', name }
    const file = this.#tracker.imported(importer, specifier)
    const foreign = (isLost: boolean): Foreign => ({ kind: 'foreign', file: importer, from: specifier, name, isLost })
    if (!file) return foreign(!this.#tracker.leadsToFile(importer, specifier))
    if (file.failure) return foreign(true)
    if (seen.has(`${file.path}#${name}`)) return undefined
    seen.add(`${file.path}#${name}`)
    const exported = file.exports.get(name)
    if (exported) {
      return 'local' in exported
        ? this.meaningOfName(file, exported.local, seen)
        : this.#exportedMeaning(file, exported.from, exported.name, seen)
    }
    // A file with syntax errors may export the name all the same.
    const unsure = file.errors.length > 0 ? foreign(true) : undefined
    if (name === 'default') return unsure // `export *` never passes on a default.
    const found = file.stars.flatMap((star) => this.#exportedMeaning(file, star, name, seen) ?? [])
    const sure = found.filter(({ kind }) => kind !== 'foreign') // A package may export the name or not.
    if (sure.length === 0) return unsure ?? found.find((one) => one.kind === 'foreign' && one.isLost)
    return sure.length === 1 ? sure[0] : undefined // A name that two modules export is passed on by neither.
  }
}
