/** What a name in a file means: through imports, re-exports, tsconfig paths and, where the text cannot tell, a package's types. */
import path from 'node:path'
import { standardWebhooks } from '../src/wire/webhook-schemes.ts'
import { createChecker } from './checker.ts'
import type { DecoratorSyntax } from './classes.ts'
import {
  type ClassId,
  computedKey,
  type Entry,
  type Location,
  type Span,
  type StaticValue,
  sdkName,
  spreadKey,
  type Tsconfig,
  unreadable,
} from './declaration.ts'
import type { Expression } from './expression.ts'
import type { SourceFile } from './project.ts'
import { createResolver } from './resolve.ts'
import { openSources, type Sources } from './sources.ts'
import { lineAt } from './syntax.ts'
import { configurations, readTsconfig } from './tsconfig.ts'
import { ts } from './typescript.ts'
import { factOf, pathOf, relocate, spread } from './values.ts'

/** What a name stands for. */
type Meaning =
  | { kind: 'class'; id: ClassId }
  | { kind: 'constant'; file: SourceFile; expression: Expression }
  | { kind: 'sdk'; name: string }
  | { kind: 'namespace'; file: SourceFile; from: string }
  /** Of a package: `name` as it exports it. */
  | Foreign

interface Foreign {
  kind: 'foreign'
  /** The file that imports it. */
  file: SourceFile
  from: string
  name: string
  /** Where the name comes from cannot be read or found. */
  isLost: boolean
}

/** What an answer about one file depends on beside that file. */
export interface Dependencies {
  dependencies: SourceFile[]
  /** Where its imports have led: importing file, specifier, and the file, or whether there is one. */
  led: [file: SourceFile, specifier: string, to: string | boolean | undefined][]
  /** Of the answers where imports lead: as long as no file comes or goes, it stays. */
  version: number
}

export interface Program {
  root: string
  /** The file that exports the root module, relative to the root. */
  entry: string
  sources: Sources
  tsconfig(): Tsconfig | undefined
  /** Whether all that was read is a source, or went into the bundle: not so where types of packages were asked. */
  isSelfContained(): boolean
  /** tsconfig.json and what it extends, absolute. */
  configurations(): string[]
  /** Grows when everything must be asked again: tsconfig.json has changed, or the types of a package. */
  generation(): number
  /** Looks at the disk again; see `Sources.refresh`. */
  refresh(touched: ReadonlySet<string>): void
  /** Runs `work`, and says what its answers depend on. */
  tracked<T>(work: () => T): { value: T } & Dependencies
  /** The same answers, known to hold now. */
  confirmed<T extends Dependencies>(before: T): T
  /** Whether the answers would be the same now. */
  holds(dependencies: Dependencies): boolean
  locate(place: Span): Location
  /** The SDK's name of a decorator, whatever it is called here. */
  sdkDecorator(file: SourceFile, decorator: DecoratorSyntax): string | undefined
  /** What the name of a type or a value stands for; `orders.Orders` is looked up in the namespace. */
  meaningOf(file: SourceFile, name: string): Meaning | undefined
  /** What an expression stands for that is a name, or a member of a namespace. */
  meaningOfExpression(file: SourceFile, expression: Expression): Meaning | undefined
  /** The file that declares a class, by its id. */
  fileOf(id: ClassId): SourceFile | undefined
  /** The value of an expression, as far as it is known at build; its place is where it was asked for. */
  evaluate(file: SourceFile, expression: Expression): StaticValue
  /** The same for what is only known at run time, like a schema: no package's types are asked. */
  shapeOf(file: SourceFile, expression: Expression): StaticValue
  /** Whether an import leads to a file, or to an installed package. */
  leadsToFile(file: SourceFile, specifier: string): boolean
  /** Whether an alias of tsconfig.json fits a specifier. */
  isMapped(specifier: string): boolean
  /** Absolute path of the source that an import leads to; unlike `imported` it does not read that source. */
  sourceOf(file: SourceFile, specifier: string): string | undefined
  /** The source that an import leads to. */
  imported(file: SourceFile, specifier: string): SourceFile | undefined
  /** The names in the alias or interface that a name in a type stands for. */
  namesInType(file: SourceFile, name: string): string[] | undefined
}

/** @param root absolute. @param entry relative to it; every source below its folder is read (contract 1.8). */
export function openProgram(root: string, entry: string): Program {
  const sources = openSources(root, path.dirname(path.resolve(root, entry)))
  const newResolver = () => createResolver(root, sources.isListed)
  const configured = () => ts.sys.getModifiedTime?.(path.join(root, 'tsconfig.json'))?.getTime()
  let resolver = newResolver()
  let checker = createChecker(root, resolver.options)
  let tsconfig = readTsconfig(root)
  let configuredAt = configured()
  let generation = 0
  let version = 0
  let dependencies = new Set<SourceFile>()
  let led = new Map<string, Dependencies['led'][number]>()
  const absoluteOf = (file: SourceFile) => path.join(root, file.path)

  function sourceOf(from: SourceFile, specifier: string): string | undefined {
    const absolute = resolver.source(absoluteOf(from), specifier)
    led.set(`${from.path}\0${specifier}`, [from, specifier, absolute])
    return absolute
  }

  function leadsToFile(file: SourceFile, specifier: string): boolean {
    if (specifier === sdkName) return true // the copy that builds (contract 1.8)
    const isLeading = resolver.leads(absoluteOf(file), specifier)
    led.set(`${file.path}\0${specifier}\0leads`, [file, specifier, isLeading])
    return isLeading
  }

  function imported(from: SourceFile, specifier: string): SourceFile | undefined {
    const absolute = sourceOf(from, specifier)
    if (absolute === undefined) return undefined
    const file = sources.read(absolute)
    dependencies.add(file)
    return file
  }

  function meaningOf(file: SourceFile, name: string, seen?: Set<string>): Meaning | undefined {
    if (file.classes.some((candidate) => candidate.name === name)) return { kind: 'class', id: `${file.path}#${name}` }
    const expression = file.constants.get(name)
    if (expression) return { kind: 'constant', file, expression }
    const origin = file.imports.get(name)
    return origin && meaningIn(file, origin.from, origin.name, seen)
  }

  function meaningIn(from: SourceFile, specifier: string, name: string, seen = new Set<string>()): Meaning | undefined {
    if (name === '*') return { kind: 'namespace', file: from, from: specifier }
    if (specifier === sdkName) return { kind: 'sdk', name }
    const file = imported(from, specifier)
    const foreign = (isLost: boolean): Foreign => ({ kind: 'foreign', file: from, from: specifier, name, isLost })
    if (!file) return foreign(!leadsToFile(from, specifier))
    if (file.failure) return foreign(true)
    if (seen.has(`${file.path}#${name}`)) return undefined
    seen.add(`${file.path}#${name}`)
    const exported = file.exports.get(name)
    if (exported) {
      return 'local' in exported
        ? meaningOf(file, exported.local, seen)
        : meaningIn(file, exported.from, exported.name, seen)
    }
    const half = file.errors.length > 0 ? foreign(true) : undefined // what does not parse may declare it all the same
    if (name === 'default') return half // which no star passes on
    const found = file.stars.flatMap((star) => meaningIn(file, star, name, seen) ?? [])
    const sure = found.filter(({ kind }) => kind !== 'foreign') // a package may export it, or not
    if (sure.length === 0) return half ?? found.find((one) => one.kind === 'foreign' && one.isLost)
    return sure.length === 1 ? sure[0] : undefined // a name that two of them export is exported by neither
  }

  /** Of something whose value nobody asks for: whether it may be what it must be. */
  function shapeOf(file: SourceFile, expression: Expression): StaticValue {
    const root = pathOf(expression)?.root
    const origin = root?.kind === 'name' ? file.imports.get(root.name) : undefined
    const { place } = expression
    if (origin?.isTypeOnly) return { kind: 'unknown', text: 'a type', place, isType: true }
    const meaning = root && meaningOfExpression(file, root)
    return meaning?.kind === 'foreign' ? { kind: 'unknown', text: 'of a package', place } : evaluate(file, expression)
  }

  /** A constant of a package: its value is in its type. */
  function asked(
    { file, from, name, isLost }: Foreign,
    members: readonly string[],
    text: string,
    place: Span,
  ): StaticValue {
    if (isLost) return { kind: 'unknown', text, place, isLost }
    const value = checker.ask(path.dirname(absoluteOf(file)), from, [name, ...members])
    return value ? factOf(value.value, place) : { kind: 'unknown', text, place }
  }

  /** The one value of the SDK that an option takes. */
  function sdkConstant(name: string, text: string, place: Span): StaticValue {
    if (name !== 'standardWebhooks') return { kind: 'unknown', text, place }
    return relocate(factOf(standardWebhooks, place), place, text)
  }

  function evaluate(file: SourceFile, expression: Expression, seen: readonly Expression[] = []): StaticValue {
    const fact = evaluateBare(file, expression, seen)
    return expression.isWrapped ? { ...fact, isElsewhere: true } : fact
  }

  function evaluateBare(file: SourceFile, expression: Expression, seen: readonly Expression[]): StaticValue {
    const { place } = expression
    const unknown = (text: string, part?: StaticValue): StaticValue => {
      return { kind: 'unknown', text, place, ...(part?.kind === 'unknown' && part.isLost ? { isLost: true } : {}) }
    }
    if (seen.includes(expression)) return unknown('a constant that refers to itself')
    const inner = (part: Expression) => evaluate(file, part, [...seen, expression])
    switch (expression.kind) {
      case 'literal':
        return expression
      case 'template': {
        const parts = expression.parts.map(inner)
        let joined = ''
        for (const part of parts) {
          if (part.kind !== 'literal') return unknown(expression.text, part)
          joined += part.value
        }
        return { kind: 'literal', value: joined, place }
      }
      case 'list':
        return {
          kind: 'list',
          items: expression.items.flatMap((item) => (item.kind === 'spread' ? spread(inner(item.of)) : [inner(item)])),
          place,
        }
      case 'record': {
        const entries: Entry[] = []
        const spreadIn = new Set<Entry>()
        const replace = (isReplaced: (earlier: Entry) => boolean) => {
          for (const earlier of entries.filter(isReplaced)) entries.splice(entries.indexOf(earlier), 1)
        }
        for (const { key, keyPlace, value } of expression.properties) {
          if (value.kind === 'spread') {
            const of = inner(value.of)
            const added = of.kind === 'record' ? of.entries : [{ key: spreadKey, keyPlace, value: of }]
            replace((earlier) => !unreadable.has(earlier.key) && added.some((one) => one.key === earlier.key))
            for (const one of added) spreadIn.add(one)
            entries.push(...added)
          } else if (key === undefined) {
            entries.push({
              key: computedKey,
              keyPlace,
              value: { kind: 'unknown', text: computedKey, place: value.place },
            })
          } else {
            // what was spread in is replaced, as at run time; a key that is written twice stays twice, to be refused
            replace((earlier) => earlier.key === key && spreadIn.has(earlier))
            entries.push({ key, keyPlace, value: inner(value) })
          }
        }
        return { kind: 'record', entries, place }
      }
      case 'sum': {
        let sum: string | number | undefined
        for (const term of expression.terms) {
          const fact = inner(term)
          const value = fact.kind === 'literal' ? fact.value : undefined
          if (typeof value !== 'string' && typeof value !== 'number') return unknown(expression.text, fact)
          // `+` adds two numbers, and joins what is text on either side
          if (sum === undefined) sum = value
          else sum = typeof sum === 'number' && typeof value === 'number' ? sum + value : `${sum}${value}`
        }
        return { kind: 'literal', value: sum, place }
      }
      case 'name': {
        const meaning = meaningOf(file, expression.name)
        if (meaning?.kind === 'class') return { kind: 'class', id: meaning.id, place }
        if (meaning?.kind === 'foreign') return asked(meaning, [], expression.name, place)
        if (meaning?.kind === 'sdk') return sdkConstant(meaning.name, expression.name, place)
        if (meaning?.kind !== 'constant') return unknown(expression.name)
        return relocate(evaluate(meaning.file, meaning.expression, [...seen, expression]), place, expression.name)
      }
      case 'member': {
        const meaning = meaningOfExpression(file, expression)
        if (meaning?.kind === 'class') return { kind: 'class', id: meaning.id, place }
        if (meaning?.kind === 'constant') {
          return relocate(evaluate(meaning.file, meaning.expression, [...seen, expression]), place, expression.text)
        }
        if (meaning?.kind === 'foreign') return asked(meaning, [], expression.text, place)
        if (meaning?.kind === 'sdk') return sdkConstant(meaning.name, expression.text, place)
        const path = pathOf(expression)
        const root = path && meaningOfExpression(file, path.root)
        if (root?.kind === 'foreign') return asked(root, path!.members, expression.text, place)
        const record = inner(expression.of)
        if (record.kind !== 'record' || record.entries.some(({ key }) => unreadable.has(key)))
          return unknown(expression.text, record)
        const found = record.entries.filter(({ key }) => key === expression.property)
        return found.length === 1 ? relocate(found[0]!.value, place, expression.text) : unknown(expression.text)
      }
      case 'spread':
        return unknown('...')
      case 'other':
        return unknown(expression.text)
    }
  }

  function meaningOfExpression(file: SourceFile, expression: Expression): Meaning | undefined {
    if (expression.kind === 'name') return meaningOf(file, expression.name)
    if (expression.kind !== 'member') return undefined
    const of = meaningOfExpression(file, expression.of)
    return of?.kind === 'namespace' ? meaningIn(of.file, of.from, expression.property) : undefined
  }

  function leadsAsBefore([from, specifier, to]: Dependencies['led'][number]): boolean {
    if (typeof to === 'boolean') return resolver.leads(absoluteOf(from), specifier) === to
    return resolver.source(absoluteOf(from), specifier) === to
  }

  /** Like meaningOf, for what does not exist at run time. @param seen asked already: index files may star each other. */
  function namesInType(file: SourceFile, name: string, seen = new Set<string>()): string[] | undefined {
    const key = `${file.path}#${name}`
    if (seen.has(key)) return undefined
    seen.add(key)
    const own = file.types.get(name)
    if (own) return own
    const origin = file.imports.get(name) ?? file.exports.get(name)
    if (origin && 'from' in origin) {
      const from = imported(file, origin.from)
      return from && namesInType(from, origin.name, seen)
    }
    if (origin && origin.local !== name) return namesInType(file, origin.local, seen)
    for (const star of file.stars) {
      const from = imported(file, star)
      const found = from && namesInType(from, name, seen)
      if (found) return found
    }
    return undefined
  }

  return {
    root,
    entry,
    sources,
    tsconfig: () => tsconfig,
    isSelfContained: () => !checker.wasAsked() && !resolver.hasSearched(),
    configurations: () => configurations(root),
    generation: () => generation,
    refresh(touched) {
      const isConfigured = [...touched].some((absolute) => absolute.endsWith('.json')) // extended, or a package's
      // what is no source may be imported all the same, and may have come or gone
      const isOther = [...touched].some((absolute) => !sources.isRead(absolute))
      const hasSetChanged = sources.refresh(touched) || isOther
      const now = configured()
      if (hasSetChanged) resolver = newResolver()
      if (hasSetChanged) version++
      if (now === configuredAt && !isConfigured && !checker.isStale()) return
      configuredAt = now
      tsconfig = readTsconfig(root)
      resolver = newResolver()
      checker = createChecker(root, resolver.options)
      generation++
    },
    tracked(work) {
      const outer = { dependencies, led }
      dependencies = new Set()
      led = new Map()
      try {
        const value = work()
        return { value, dependencies: [...dependencies], led: [...led.values()], version }
      } finally {
        dependencies = outer.dependencies
        led = outer.led
      }
    },
    confirmed: (before) => (before.version === version ? before : { ...before, version }),
    holds: (before) =>
      before.dependencies.every(sources.isCurrent) && (before.version === version || before.led.every(leadsAsBefore)),
    locate: (place) => locationOf(place, sources.lineStartsOf(path.join(root, place.file))),
    evaluate: (file, expression) => evaluate(file, expression),
    shapeOf,
    sourceOf,
    imported,
    leadsToFile,
    isMapped: (specifier) => resolver.mapped(specifier).length > 0,
    meaningOfExpression,
    meaningOf(file, name) {
      const [namespace, member] = name.split('.') as [string, string?]
      const of = meaningOf(file, namespace)
      if (member === undefined) return of
      return of?.kind === 'namespace' ? meaningIn(of.file, of.from, member) : undefined
    },
    fileOf(id) {
      const absolute = path.join(root, id.slice(0, id.lastIndexOf('#')))
      const file = sources.read(absolute)
      dependencies.add(file)
      return file
    },
    namesInType: (file, name) => namesInType(file, name),
    sdkDecorator(file, { callee }) {
      const origin = callee.kind === 'name' ? file.imports.get(callee.name) : undefined
      if (origin?.from === sdkName) return origin.name // as nearly always
      const meaning = meaningOfExpression(file, callee)
      return meaning?.kind === 'sdk' ? meaning.name : undefined
    },
  }
}

/** @param lineStarts offsets, the first 0. */
function locationOf(place: Span, lineStarts: readonly number[]): Location {
  const from = lineAt(lineStarts, place.start)
  const to = lineAt(lineStarts, place.end)
  return {
    ...place,
    line: from + 1,
    column: place.start - lineStarts[from]! + 1,
    endLine: to + 1,
    endColumn: place.end - lineStarts[to]! + 1,
  }
}
