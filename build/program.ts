/** A project as `read/` sees it: its sources, where imports lead, what names mean, and the values of expressions. */
import path from 'node:path'
import { type Checker, createChecker } from './checker.ts'
import { type ClassId, type Location, type Span, type StaticValue, sdkName, type Tsconfig } from './declaration.ts'
import { type Dependencies, DependencyTracker } from './dependencies.ts'
import { Evaluator } from './evaluate.ts'
import type { Expression } from './expression.ts'
import { locate } from './locate.ts'
import { type Meaning, Names } from './meaning.ts'
import { Resolver } from './resolve.ts'
import type { DecoratorSyntax, SourceFile } from './source-file.ts'
import { Sources } from './sources.ts'
import { configurations, readTsconfig } from './tsconfig.ts'
import { ts } from './typescript.ts'

export class Program {
  /** Absolute. */
  readonly root: string
  /** The file that exports the root module, relative to the root. */
  readonly entry: string
  readonly sources: Sources
  readonly #tracker: DependencyTracker
  readonly #names: Names
  readonly #evaluator: Evaluator
  #resolver: Resolver
  /** Types of packages. */
  #checker: Checker
  #tsconfig: Tsconfig | undefined
  /** Modification time of tsconfig.json. */
  #configuredAt: number | undefined
  #generation = 0

  /** @param root absolute. @param entry relative to it. Every source below the entry's folder is read (contract 1.8). */
  constructor(root: string, entry: string) {
    this.root = root
    this.entry = entry
    this.sources = new Sources(root, path.dirname(path.resolve(root, entry)))
    this.#resolver = this.#newResolver()
    this.#checker = createChecker(root, this.#resolver.options)
    this.#tsconfig = readTsconfig(root)
    this.#configuredAt = this.#configurationTime()
    this.#tracker = new DependencyTracker(this.sources, this.#resolver)
    this.#names = new Names(this.#tracker)
    this.#evaluator = new Evaluator(this.#names, this.#tracker, () => this.#checker)
  }

  tsconfig(): Tsconfig | undefined {
    return this.#tsconfig
  }

  /** tsconfig.json and the files that it extends, absolute. */
  configurations(): string[] {
    return configurations(this.root)
  }

  /** All files that decided the declarations are sources. Not so after types of packages were read, or the disk searched. */
  isSelfContained(): boolean {
    return !this.#checker.hasReadTypes() && !this.#resolver.hasSearched()
  }

  /** Grows when every answer may be another: after a change of tsconfig.json, or of a package's types. */
  generation(): number {
    return this.#generation
  }

  /** Grows when a file came or went, so that imports may lead elsewhere. */
  fileSet(): number {
    return this.#tracker.fileSet
  }

  /** Forgets what was read of the given files, and what followed from it. @param touched absolute paths of changed files. */
  refresh(touched: ReadonlySet<string>): void {
    // Any .json file may be a tsconfig.json, a file that it extends, or a package.json.
    const isConfiguration = [...touched].some((absolute) => absolute.endsWith('.json'))
    // A file that is no source may be imported all the same, and may have come or gone.
    const isOther = [...touched].some((absolute) => !this.sources.isRead(absolute))
    const hasFileSetChanged = this.sources.refresh(touched) || isOther
    const configuredAt = this.#configurationTime()
    const hasConfigurationChanged = configuredAt !== this.#configuredAt || isConfiguration || this.#checker.isStale()
    if (hasFileSetChanged || hasConfigurationChanged) {
      this.#resolver = this.#newResolver()
      this.#tracker.useResolver(this.#resolver, hasFileSetChanged)
    }
    if (!hasConfigurationChanged) return
    this.#configuredAt = configuredAt
    this.#tsconfig = readTsconfig(this.root)
    this.#checker = createChecker(this.root, this.#resolver.options)
    this.#generation++
  }

  /** Runs `work`, and tells what its result depends on. */
  tracked<T>(work: () => T): { value: T } & Dependencies {
    return this.#tracker.tracked(work)
  }

  /** Whether the same work would give the same result now. */
  holds(dependencies: Dependencies): boolean {
    return this.#tracker.holds(dependencies)
  }

  /** The same dependencies, after `holds` has shown that they hold now. */
  confirmed<T extends Dependencies>(before: T): T {
    return this.#tracker.confirmed(before)
  }

  /** A span with its lines and columns. */
  locate(place: Span): Location {
    return locate(place, this.sources.lineStartsOf(path.join(this.root, place.file)))
  }

  /** The SDK's name of a decorator, which the file may import under another name. */
  sdkDecorator(file: SourceFile, { callee }: DecoratorSyntax): string | undefined {
    // Nearly every decorator is imported from the SDK directly, by its own name.
    const origin = callee.kind === 'name' ? file.imports.get(callee.name) : undefined
    if (origin?.from === sdkName) return origin.name
    const meaning = this.meaningOfExpression(file, callee)
    return meaning?.kind === 'sdk' ? meaning.name : undefined
  }

  /** Finds what the name of a type or a value stands for. `orders.Orders` is looked up in the namespace `orders`. */
  meaningOf(file: SourceFile, name: string): Meaning | undefined {
    return this.#names.meaningOf(file, name)
  }

  /** Finds what an expression stands for that is a name, or a member of a namespace. */
  meaningOfExpression(file: SourceFile, expression: Expression): Meaning | undefined {
    return this.#names.meaningOfExpression(file, expression)
  }

  /** The names inside the alias or interface that a type's name stands for. */
  namesInType(file: SourceFile, name: string): string[] | undefined {
    return this.#names.namesInType(file, name)
  }

  /** The file that declares a class. */
  fileOf(id: ClassId): SourceFile {
    return this.#tracker.read(path.join(this.root, id.slice(0, id.lastIndexOf('#'))))
  }

  /** The value of an expression, as far as it is known at build. */
  evaluate(file: SourceFile, expression: Expression): StaticValue {
    return this.#evaluator.evaluate(file, expression)
  }

  /** The value of an expression that may have a value at run time only, like a schema. No types of packages are read. */
  shapeOf(file: SourceFile, expression: Expression): StaticValue {
    return this.#evaluator.shapeOf(file, expression)
  }

  /** Whether an import leads to a file, or to an installed package. */
  leadsToFile(file: SourceFile, specifier: string): boolean {
    return this.#tracker.leadsToFile(file, specifier)
  }

  /** Whether an alias of tsconfig.json matches a specifier. */
  isMapped(specifier: string): boolean {
    return this.#resolver.mapped(specifier).length > 0
  }

  /** Absolute path of the source that an import leads to. The source is not read. */
  sourceOf(file: SourceFile, specifier: string): string | undefined {
    return this.#tracker.sourceOf(file, specifier)
  }

  /** The source that an import leads to. */
  imported(file: SourceFile, specifier: string): SourceFile | undefined {
    return this.#tracker.imported(file, specifier)
  }

  #newResolver(): Resolver {
    return new Resolver(this.root, (absolute) => this.sources.isListed(absolute))
  }

  #configurationTime(): number | undefined {
    return ts.sys.getModifiedTime?.(path.join(this.root, 'tsconfig.json'))?.getTime()
  }
}
