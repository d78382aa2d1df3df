/**
 * What a project declares, as plain data: every fact with the place it was read from. `read/` makes these, `refuse/`
 * judges them, `link/` turns them into the route table; none of the latter two sees syntax.
 */
import type { Method } from '../runtime/table.ts'
import type { Unfit } from './classes.ts'

export const sdkName = '@stack/backend'

/** A stretch of source, as offsets into its text; the end is exclusive. */
export interface Place {
  /** Relative to the project, with `/`. */
  file: string
  start: number
  end: number
}

/** The same as people count: from 1. */
export interface Location extends Place {
  line: number
  column: number
  endLine: number
  endColumn: number
}

/**
 * A value as far as it is known at build. An unknown one `isLost` where it comes from a file that cannot be read or found. One that is written elsewhere, or inside of something (parentheses, `as const`),
 * has the place where it is used: no edit can go by it.
 */
export type Fact =
  | { kind: 'literal'; value: string | number | boolean | null | undefined; place: Place; isElsewhere?: true }
  | { kind: 'list'; items: Fact[]; place: Place; isElsewhere?: true }
  | { kind: 'record'; entries: Entry[]; place: Place; isElsewhere?: true }
  | { kind: 'class'; id: ClassId; place: Place; isElsewhere?: true }
  /** Known only at run time, or not at all: `text` is what was written. */
  | { kind: 'unknown'; text: string; place: Place; isElsewhere?: true; isType?: true; isLost?: true }

/** Keys of entries that cannot be read: a spread of something unknown, a computed key. */
export const spreadKey = '...'
export const computedKey = '[…]'
export const unreadable: ReadonlySet<string> = new Set([spreadKey, computedKey])

export interface Entry {
  key: string
  keyPlace: Place
  value: Fact
}

/** `src/orders.controller.ts#OrdersController` */
export type ClassId = string

export const roles = ['Module', 'Controller', 'Injectable', 'Webhook'] as const

/** What a decorator makes of a class. */
export type ClassRole = (typeof roles)[number]

export const methods: Readonly<Record<string, Method>> = {
  Get: 'GET',
  Post: 'POST',
  Put: 'PUT',
  Patch: 'PATCH',
  Delete: 'DELETE',
}

/** What a handler's parameter may receive. */
export const injectors = [
  'Param',
  'Query',
  'Header',
  'Body',
  'Req',
  'User',
  'OptionalUser',
  'RequestId',
  'TraceId',
  'Client',
] as const

/** Services of the SDK that are imported, never injected, and act for the request that is being served. */
export const ambientServices: ReadonlySet<string> = new Set(['Auth', 'Database', 'Log', 'Secrets', 'Storage'])

/** Every decorator of the SDK. */
export const decoratorNames: ReadonlySet<string> = new Set([...roles, ...Object.keys(methods), 'On', ...injectors])

/** A decorator of the SDK. */
export interface Mark {
  name: string
  /** Of the whole decorator, with its `@`. */
  place: Place
  isCalled: boolean
  arguments: Fact[]
}

export interface ClassDeclaration {
  id: ClassId
  name: string
  file: string
  /** Of its name. */
  place: Place
  line: number
  /** Offset of `class`, or `abstract class`. */
  keyword: number
  /** The same, with `export` before it. */
  start: number
  /** Its type is exported, and itself not. */
  isTypeExported: boolean
  defaultKeyword: Place | undefined
  /** The name it is exported by, if it is exported by name. */
  exportName: string | undefined
  isDefaultExport: boolean
  isAbstract: boolean
  /** Is, or may be, a Standard Schema itself. */
  isSchema: boolean
  /** What stands after `implements`: names without arguments, and the classes of the project among them. */
  implemented: { name: string; id: ClassId | undefined }[]
  /** The class of the project that it extends. */
  base: { id: ClassId; place: Place } | undefined
  marks: Mark[]
  dependencies: Dependency[]
  /** What the constructor takes is not known: it is inherited from something that the build cannot read. */
  unknownBase: Place | undefined
  members: Member[]
  /** Of every member that exists at run time; one that stands twice replaces itself. */
  memberNames: string[]
}

/** One constructor parameter. */
export interface Dependency {
  parameter: string
  place: Place
  /** The class its type names; `undefined` when the type names no class of the project. */
  target: ClassId | undefined
  /** Its type comes from a file or package that cannot be read or found. */
  isLost: boolean
  /** Has a default: where its type names no class, nobody need provide it. */
  isOptional: boolean
  /** The type as written. */
  type: string
}

/** A member of a class that carries a decorator of the SDK, itself or on a parameter. */
export interface Member {
  name: string
  place: Place
  line: number
  /** Why it cannot serve as a handler, where it cannot. */
  unfit: Unfit | undefined
  marks: Mark[]
  parameters: HandlerParameter[]
  /** A result that is neither nothing nor a `Response`, where the text tells. */
  result: { text: string; place: Place } | undefined
}

export interface HandlerParameter {
  name: string
  place: Place
  marks: Mark[]
  /** As written; empty where there is none. */
  type: string
  typePlace: Place
  /** Every name in the type: keywords like `string` and `null`, the SDK's types by their own names, aliases resolved. */
  typeNames: string[]
}

/** A decorator with the name of one of the SDK's, or of a server framework, that comes from elsewhere. */
export interface ForeignMark {
  classId: ClassId
  /** Absent for one on the class itself. */
  member: string | undefined
  /** Whether a package exports it, and not the project itself. */
  isOfPackage: boolean
  /** The file or package that it comes from cannot be read or found. */
  isLost: boolean
  /** As it is written here. */
  name: string
  /** As it is called where it comes from. */
  exported: string
  from: string
  place: Place
}

/** A decorator that the file neither imports nor declares. */
export interface UnimportedMark {
  name: string
  place: Place
  /** The class at the top of the file that it stands on, or inside of. */
  classId: ClassId | undefined
}

/** An import that leads to no file, or of a package that is not installed. */
export interface LostImport {
  specifier: string
  place: Place
  /**
   * `alias`: the file is there, and tsconfig.json does not say so; `prefix`: like an alias, of what is not known;
   * `builtin`: a module of Node without its prefix.
   */
  kind: 'file' | 'alias' | 'prefix' | 'package' | 'builtin'
  /** The entry of `paths` that would lead to the file, or the one that people mostly mean. */
  alias?: { pattern: string; target: string }
  /** How the importing file would name it without an alias. */
  relative?: string
}

/** What is called where no request is served. */
export interface EarlyCall {
  /** As written: `new` is not part of it. */
  name: string
  from: { sdk: string } | { package: string; name: string } | { global: string }
  isNew: boolean
  /** Whose instance is being built; `undefined` at module scope. */
  className: string | undefined
  place: Place
}

/** Where a file's imports stand: for fixes that need another one. */
interface Imports {
  file: string
  /** Offset at which a further import declaration may stand. */
  end: number
  named: { from: string; lastName: number }[]
  /** Every relative specifier. */
  relative: string[]
  names: { local: string; from: string; name: string }[]
  /** Every name that means something at the top of the file. */
  taken: string[]
}

/** What tsconfig.json, or what it extends, says about decorators. */
export interface Tsconfig {
  hasDecorators: boolean
  hasMetadata: boolean
  /** The key `compilerOptions`, or the file's first character. */
  options: Place
  /** Where a further option may stand. */
  body: { start: number; isEmpty: boolean } | undefined
  /** The values, where this very file gives them. */
  decorators: Place | undefined
  metadata: Place | undefined
}

export interface Declarations {
  /** The file that must export the root module. */
  entry: string
  /** Every file that was read. */
  files: ReadonlySet<string>
  /** Those of them that the worker loads; the others may be programs of their own, like a seed script. */
  bundled: ReadonlySet<string>
  classes: ClassDeclaration[]
  lostImports: LostImport[]
  /** Files whose reader failed: nothing that they declare is known. */
  unreadable: { reason: string; isOfSystem: boolean; place: Place }[]
  /** Decorators of the SDK that stand where no declaration is read. */
  strayMarks: Mark[]
  unimported: UnimportedMark[]
  /** Decorators that have a name of the SDK's, or are a server framework's, and come from elsewhere. */
  foreignMarks: ForeignMark[]
  /** Calls at module scope, and while instances are built. */
  earlyCalls: EarlyCall[]
  evals: { text: string; place: Place }[]
  /** A file imports `Database` of the SDK, or the SDK whole. */
  usesDatabase: boolean
  /** A file imports an ambient service of the SDK, or the SDK whole: somebody may ask which request is being served. */
  usesServices: boolean
  imports: Imports[]
  /** Files whose default export somebody imports. */
  defaultImports: string[]
  /** Calls in row-level policies that run once for each row. */
  policyCalls: PolicyCall[]
  /** Tables and views that the migrations create. */
  relations: Relation[]
  /** `undefined` where there is no tsconfig.json. */
  tsconfig: Tsconfig | undefined
  /** Decorators of the SDK that are used as values. */
  markValues: { name: string; place: Place }[]
  /** Files that do not parse. */
  syntaxErrors: { message: string; place: Place }[]
}

/** A table or view as the migrations leave it, as far as their text proves it. */
export interface Relation {
  /** As it is called in its schema. */
  name: string
  kind: 'table' | 'view' | 'materialized view'
  /** Span of the name in the statement that creates it. */
  place: Place
  /** Only a table has it. */
  hasRowSecurity: boolean
  /** Only a view has it. Without `security_invoker` the policies of the view's owner apply, and an owner has none. */
  runsAsOwner: boolean
  /** A comment on it says `@stack public`. */
  isPublic: boolean
  /** What lets every user reach it. */
  granted: { to: string; place: Place } | undefined
}

/** A call of `auth.uid()` and its like in a policy of `migrations/`. */
export interface PolicyCall {
  name: string
  place: Place
}

export function hasRole(declaration: ClassDeclaration, role: ClassRole): boolean {
  return declaration.marks.some(({ name }) => name === role)
}

export function markOf(declaration: { marks: Mark[] }, name: string): Mark | undefined {
  return declaration.marks.find((mark) => mark.name === name)
}

/** The value of one option; one that is given as `undefined` is not given. */
export function option(record: Fact | undefined, key: string): Fact | undefined {
  const value = record?.kind === 'record' ? record.entries.find((entry) => entry.key === key)?.value : undefined
  return value?.kind === 'literal' && value.value === undefined ? undefined : value
}

/** Whether every option of a record can be read. */
export function isReadable(record: Fact): boolean {
  return record.kind === 'record' && record.entries.every(({ key }) => !unreadable.has(key))
}

/** The text of a fact, or `undefined` where it is no text. */
export function text(fact: Fact | undefined): string | undefined {
  return fact?.kind === 'literal' && typeof fact.value === 'string' ? fact.value : undefined
}

/** The classes that a module's list names. */
export function listed(module: ClassDeclaration, list: string): (Fact & { kind: 'class' })[] {
  const fact = option(markOf(module, 'Module')?.arguments[0], list)
  return fact?.kind === 'list' ? fact.items.filter((item) => item.kind === 'class') : []
}

/** `{ provide: Orders, useClass: PgOrders }` among the providers: an instance of the second answers for the first. */
export interface Recipe {
  provide: Fact & { kind: 'class' }
  useClass: Fact & { kind: 'class' }
  place: Place
}

/** The recipes of a module that name two classes. */
export function recipesOf(module: ClassDeclaration): Recipe[] {
  return recipeItems(module).flatMap((item) => {
    const [provide, useClass] = [option(item, 'provide'), option(item, 'useClass')]
    return provide?.kind === 'class' && useClass?.kind === 'class' ? [{ provide, useClass, place: item.place }] : []
  })
}

/** The classes that recipes of a module provide, also those that name no class to use: that is refused itself. */
export function providedByRecipe(module: ClassDeclaration): (Fact & { kind: 'class' })[] {
  return recipeItems(module).flatMap((item) => {
    const provide = option(item, 'provide')
    return provide?.kind === 'class' ? [provide] : []
  })
}

function recipeItems(module: ClassDeclaration): Fact[] {
  const fact = option(markOf(module, 'Module')?.arguments[0], 'providers')
  return fact?.kind === 'list' ? fact.items : []
}
