/** Turns syntax into declarations: every class, and every decorator of the SDK in any position. It refuses nothing. */
import { ambientServices, type ClassDeclaration, type Declarations, decoratorNames, sdkName } from '../declaration.ts'
import type { Dependencies } from '../dependencies.ts'
import type { Program } from '../program.ts'
import type { ClassSyntax, SourceFile } from '../source-file.ts'
import { reasonOf } from '../sources.ts'
import { readConstructor } from './container.ts'
import { readDecorators, readForeignDecorators, readUnimported } from './decorators.ts'
import { readEarlyCalls } from './early.ts'
import { readLostImports } from './imports.ts'
import { createMigrationReader } from './migrations.ts'
import { unwrappedCalls } from './policies.ts'
import { relationsOf } from './relations.ts'
import { readMembers } from './routes.ts'

/** The declarations of one file. */
type FileDeclarations = Omit<Declarations, 'entry' | 'files' | 'bundled' | 'tsconfig' | 'policyCalls' | 'relations'> & {
  /** A class of the file has a decorator of the SDK, so the worker imports the file. */
  isDeclaring: boolean
  /** The sources that the file imports for more than their types, named as in `Declarations.files`. */
  needs: string[]
}

/**
 * @returns a function that reads the whole program. After a change, its next call reads only files whose own text, or whose
 * imports' text, has changed.
 */
export function createReader(program: Program): () => Declarations {
  let generation = program.generation()
  let cache = new Map<SourceFile, { value: FileDeclarations } & Dependencies>()
  const readMigrations = createMigrationReader(program.root)

  return () => {
    if (generation !== program.generation()) cache = new Map()
    generation = program.generation()
    const current: typeof cache = new Map()
    // a file may import one outside the entry's folder: the loop also visits files that it adds to the Set
    const queue = new Set(program.sources.listed.map((absolute) => program.sources.read(absolute)))
    for (const file of queue) {
      const kept = cache.get(file)
      const found =
        kept && program.holds(kept) ? program.confirmed(kept) : program.tracked(() => readSafely(program, file))
      current.set(file, found)
      for (const dependency of found.files) queue.add(dependency)
    }
    cache = current
    const files = [...current].map(([{ path }, { value }]) => ({ path, value })).sort(byPath)
    const migrations = readMigrations()
    const gathered = gather(program, files)
    return {
      ...gathered,
      unreadable: [...gathered.unreadable, ...migrations.unreadable],
      policyCalls: migrations.texts.flatMap(unwrappedCalls),
      relations: relationsOf(migrations.texts),
    }
  }
}

function byPath(a: { path: string }, b: { path: string }): number {
  return a.path < b.path ? -1 : 1
}

function gather(
  program: Program,
  files: { path: string; value: FileDeclarations }[],
): Omit<Declarations, 'policyCalls' | 'relations'> {
  const all = <K extends ListKey>(key: K) =>
    files.flatMap(({ value }) => value[key] as FileDeclarations[K][number][]) as FileDeclarations[K]
  const bundled = bundledOf(program.entry, files)
  return {
    entry: program.entry,
    files: new Set(files.map(({ path }) => path)),
    bundled,
    tsconfig: program.tsconfig(),
    classes: all('classes'),
    // a separate program, like a seed script, is not bundled and need not find its packages at build
    lostImports: all('lostImports').filter(
      ({ kind, place }) => (kind !== 'package' && kind !== 'builtin') || bundled.has(place.file),
    ),
    unreadable: all('unreadable'),
    strayDecorators: all('strayDecorators'),
    argumentValues: all('argumentValues'),
    unimported: all('unimported'),
    foreignDecorators: all('foreignDecorators'),
    earlyCalls: all('earlyCalls'),
    evals: all('evals'),
    syntaxErrors: all('syntaxErrors'),
    usesDatabase: files.some(({ value }) => value.usesDatabase),
    usesServices: files.some(({ value }) => value.usesServices),
    imports: all('imports'),
    defaultImports: all('defaultImports'),
  }
}

type ListKey = {
  [K in keyof FileDeclarations]: FileDeclarations[K] extends unknown[] ? (K extends 'needs' ? never : K) : never
}[keyof FileDeclarations]

/** The files that the worker loads: those with declared classes, and their imports. */
function bundledOf(entry: string, files: { path: string; value: FileDeclarations }[]): Set<string> {
  const byPath = new Map(files.map(({ path, value }) => [path, value]))
  const bundled = new Set(
    files.filter(({ path, value }) => value.isDeclaring || path === entry).map(({ path }) => path),
  )
  for (const path of bundled) for (const need of byPath.get(path)?.needs ?? []) bundled.add(need)
  return bundled
}

/** A reader that fails must not end the build or hide the refusals of other files. */
function readSafely(program: Program, file: SourceFile): FileDeclarations {
  if (file.failure) return emptyDeclarations(file, file.failure)
  try {
    return readFile(program, file)
  } catch (error) {
    return emptyDeclarations(file, { reason: reasonOf(error), isOfSystem: false })
  }
}

function emptyDeclarations(
  { path, lineStarts }: SourceFile,
  failure: NonNullable<SourceFile['failure']>,
): FileDeclarations {
  return {
    isDeclaring: false,
    needs: [],
    classes: [],
    lostImports: [],
    unreadable: [{ ...failure, place: { file: path, start: 0, end: Math.max(0, (lineStarts[1] ?? 1) - 1) } }],
    strayDecorators: [],
    argumentValues: [],
    unimported: [],
    foreignDecorators: [],
    earlyCalls: [],
    evals: [],
    syntaxErrors: [],
    usesDatabase: false,
    usesServices: false,
    defaultImports: [],
    imports: [],
  }
}

function readFile(program: Program, file: SourceFile): FileDeclarations {
  const classes = file.classes.map((syntax) => readClass(program, file, syntax))
  const stray = file.decorators.filter((decorator) => !file.placed.has(decorator))
  const isDeclaring = classes.some(({ decorators }) => decorators.length > 0)
  return {
    isDeclaring,
    needs: file.needs.flatMap(({ from }) => {
      const source = program.sourceOf(file, from)
      return source === undefined ? [] : [program.sources.nameOf(source)]
    }),
    classes,
    lostImports: readLostImports(program, file),
    unreadable: [],
    strayDecorators: readDecorators(program, file, stray),
    argumentValues: readArgumentValues(program, file),
    unimported: readUnimported(file),
    foreignDecorators: file.classes.flatMap((syntax) => readForeignDecorators(program, file, syntax)),
    earlyCalls: readEarlyCalls(program, file),
    evals: file.evals,
    syntaxErrors: file.errors.slice(0, 1), // most of the others follow from the first
    usesDatabase: imports(file, (name) => name === 'Database'),
    usesServices: imports(file, (name) => ambientServices.has(name)),
    defaultImports: [...file.imports.values(), ...file.exports.values()].flatMap((origin) => {
      const source = 'from' in origin && origin.name === 'default' ? program.imported(file, origin.from) : undefined
      return source ? [source.path] : []
    }),
    imports: [
      {
        file: file.path,
        end: file.importsEnd,
        named: file.namedImports,
        relative: file.needs.map(({ from }) => from).filter((from) => from.startsWith('.')),
        names: [...file.imports].map(([local, { from, name }]) => ({ local, from, name })),
        taken: [
          ...file.imports.keys(),
          ...file.declared,
          ...file.constants.keys(),
          ...file.types.keys(),
          ...file.classes.flatMap(({ name }) => name ?? []),
        ],
      },
    ],
  }
}

/**
 * Whether a file imports such a name of the SDK. It errs on the side of true: a file that re-exports the SDK, or imports it
 * whole, may pass on every name.
 */
function imports({ imports, exports, stars }: SourceFile, isWanted: (name: string) => boolean): boolean {
  const isOne = (origin: object) =>
    'from' in origin &&
    origin.from === sdkName &&
    'name' in origin &&
    (origin.name === '*' || isWanted(String(origin.name)))
  return [...imports.values(), ...exports.values()].some(isOne) || stars.includes(sdkName)
}

function readClass(program: Program, file: SourceFile, syntax: ClassSyntax): ClassDeclaration {
  const name = syntax.name ?? 'default'
  const exportName = [...file.exports].find(
    ([exported, source]) =>
      exported !== 'default' && !source.isTypeOnly && 'local' in source && source.local === syntax.name,
  )?.[0]
  const base = syntax.base && program.meaningOfExpression(file, syntax.base)
  return {
    id: `${file.path}#${name}`,
    name,
    file: file.path,
    place: syntax.place,
    line: syntax.line,
    keyword: syntax.keyword,
    start: syntax.start,
    isTypeExported: [...file.exports.values()].some((one) => one.isTypeOnly && 'local' in one && one.local === name),
    defaultKeyword: syntax.defaultKeyword,
    exportName,
    isDefaultExport: syntax.defaultKeyword !== undefined || (exportName === undefined && isDefault(file, syntax)),
    isAbstract: syntax.isAbstract,
    isSchema: syntax.isSchema || (syntax.base !== undefined && base?.kind !== 'class'),
    implemented: syntax.implemented.map((name) => {
      const meaning = program.meaningOf(file, name)
      return { name: name.slice(name.lastIndexOf('.') + 1), id: meaning?.kind === 'class' ? meaning.id : undefined }
    }),
    base: base?.kind === 'class' && syntax.base ? { id: base.id, place: syntax.base.place } : undefined,
    decorators: readDecorators(program, file, syntax.decorators),
    ...readConstructor(program, file, syntax),
    members: readMembers(program, file, syntax.members),
    memberNames: syntax.memberNames,
  }
}

/** `export default X` below the class does the same as `export default class X`. */
function isDefault(file: SourceFile, { name }: ClassSyntax): boolean {
  const source = file.exports.get('default')
  return source !== undefined && 'local' in source && source.local === name
}

/** A decorator in a variable or behind a function would be executed instead of read. */
function readArgumentValues(program: Program, file: SourceFile): Declarations['argumentValues'] {
  const whole = file.wholeImports.map(({ text, place }) => ({ name: text, place }))
  return [
    ...whole,
    ...file.uses.flatMap((expression) => {
      const meaning = program.meaningOfExpression(file, expression)
      const { place } = expression
      if (meaning?.kind === 'sdk' && decoratorNames.has(meaning.name)) return [{ name: meaning.name, place }]
      // code that holds the whole SDK could take a decorator out of it
      const isWhole = meaning?.kind === 'namespace' && meaning.from === sdkName && expression.kind === 'name'
      return isWhole ? [{ name: expression.name, place }] : []
    }),
  ]
}
