/**
 * The declarations of a project as plain data, each with the place it was read from. `read/` makes them, `refuse/` checks
 * them, and `link/` turns them into the route table. Neither `refuse/` nor `link/` sees syntax.
 */
import type { Method } from '../runtime/table.ts'

export const sdkName = '@stack/backend'

/** A range of a source file's text as offsets. The end is exclusive. */
export interface Span {
  /** Relative to the project, with `/`. */
  file: string
  start: number
  end: number
}

/** A span with its lines and columns, counted from 1 as editors do. */
export interface Location extends Span {
  line: number
  column: number
  endLine: number
  endColumn: number
}

/**
 * A value as far as it is known at build. `isElsewhere` marks a value that is written at another place, or inside
 * parentheses or a cast: `place` is where the value is used, so no edit may replace the text there. `isLost` marks a value
 * that comes from a file which cannot be read or found.
 */
export type StaticValue =
  | { kind: 'literal'; value: string | number | boolean | null | undefined; place: Span; isElsewhere?: true }
  | { kind: 'list'; items: StaticValue[]; place: Span; isElsewhere?: true }
  | { kind: 'record'; entries: Entry[]; place: Span; isElsewhere?: true }
  | { kind: 'class'; id: ClassId; place: Span; isElsewhere?: true }
  /** The value is known only at run time, or not at all. `text` is the source text. */
  | { kind: 'unknown'; text: string; place: Span; isElsewhere?: true; isType?: true; isLost?: true }

/** Keys that stand for an entry which cannot be read: the spread of an unknown value, and a computed key. */
export const spreadKey = '...'
export const computedKey = '[…]'
export const unreadable: ReadonlySet<string> = new Set([spreadKey, computedKey])

export interface Entry {
  key: string
  keyPlace: Span
  value: StaticValue
}

/** The file and name of a class: `src/orders.controller.ts#OrdersController`. */
export type ClassId = string

export const roles = ['Module', 'Controller', 'Injectable', 'Webhook'] as const

/** The role that a decorator gives to a class. */
export type ClassRole = (typeof roles)[number]

/** The HTTP method of each decorator that declares a route. */
export const methods: Readonly<Record<string, Method>> = {
  Get: 'GET',
  Post: 'POST',
  Put: 'PUT',
  Patch: 'PATCH',
  Delete: 'DELETE',
}

/** The decorators of a handler's parameters. */
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

/** Services of the SDK that are imported instead of injected. They act for the request that is being served. */
export const ambientServices: ReadonlySet<string> = new Set([
  'Auth',
  'Database',
  'Log',
  'Notifications',
  'Secrets',
  'Storage',
])

/** Every decorator of the SDK. */
export const decoratorNames: ReadonlySet<string> = new Set([
  ...roles,
  ...Object.keys(methods),
  'On',
  'Cron',
  ...injectors,
])

/** A decorator of the SDK. */
export interface Decorator {
  name: string
  /** The whole decorator, with its `@`. */
  place: Span
  isCalled: boolean
  arguments: StaticValue[]
}

export interface ClassDeclaration {
  id: ClassId
  name: string
  file: string
  /** Span of the name. */
  place: Span
  line: number
  /** Offset of `class`, or of `abstract class`. */
  keyword: number
  /** Offset of `export`, or of `class` where the class is not exported. */
  start: number
  /** The file exports the class's type, but not the class. */
  isTypeExported: boolean
  defaultKeyword: Span | undefined
  /** The name under which the file exports the class, if it does so by name. */
  exportName: string | undefined
  isDefaultExport: boolean
  isAbstract: boolean
  /** The class is, or may be, a Standard Schema itself. */
  isSchema: boolean
  /** Names after `implements` that have no type arguments. `id` is present where the name is a class of the project. */
  implemented: { name: string; id: ClassId | undefined }[]
  /** The class of the project that this class extends. */
  base: { id: ClassId; place: Span } | undefined
  decorators: Decorator[]
  dependencies: Dependency[]
  /** The base class, where its constructor is inherited and the build cannot read it. */
  unknownBase: Span | undefined
  members: Member[]
  /** Names of all members that exist at run time. A later member replaces an earlier one of the same name. */
  memberNames: string[]
}

/** One constructor parameter. */
export interface Dependency {
  parameter: string
  place: Span
  /** The class that the type names. `undefined` when the type names no class of the project. */
  target: ClassId | undefined
  /** The type comes from a file or package that cannot be read or found. */
  isLost: boolean
  /** The parameter has a default, so the container need not provide a value if the type names no class. */
  isOptional: boolean
  /** Text of the type. */
  type: string
}

/** Why a member cannot serve as a handler. */
export type Unfit = 'static' | 'not public' | 'abstract' | 'a generator' | 'not a method' | 'computed name'

/** A class member that carries a decorator of the SDK, or has a parameter that does. */
export interface Member {
  name: string
  place: Span
  line: number
  unfit: Unfit | undefined
  decorators: Decorator[]
  parameters: HandlerParameter[]
  /** The result, where the text shows that it is neither `undefined` nor a `Response`. */
  result: { text: string; place: Span } | undefined
}

export interface HandlerParameter {
  name: string
  place: Span
  decorators: Decorator[]
  /** Text of the type. Empty where no type is written. */
  type: string
  typePlace: Span
  /** Every name in the type, with aliases resolved. It includes keywords like `string`, and the SDK's types by their own names. */
  typeNames: string[]
}

/** A decorator that is not the SDK's, but has the name of an SDK decorator or comes from a server framework. */
export interface ForeignDecorator {
  classId: ClassId
  /** The decorated member. Absent for a decorator on the class itself. */
  member: string | undefined
  /** A package exports the decorator. Otherwise the project does. */
  isOfPackage: boolean
  /** The file or package that the decorator comes from cannot be read or found. */
  isLost: boolean
  /** The local name. */
  name: string
  /** The name under which the decorator is exported. */
  exported: string
  from: string
  place: Span
}

/** A decorator whose name the file neither imports nor declares. */
export interface UnimportedDecorator {
  name: string
  place: Span
  /** The top-level class that carries or contains the decorator. */
  classId: ClassId | undefined
}

/** An import that leads to no file, or names a package that is not installed. */
export interface LostImport {
  specifier: string
  place: Span
  /**
   * `alias`: the file exists, but tsconfig.json has no alias for it. `prefix`: the specifier looks like an alias, but no
   * such file is known. `builtin`: a module of Node without the prefix `node:`.
   */
  kind: 'file' | 'alias' | 'prefix' | 'package' | 'builtin'
  /** The entry of `paths` that would lead to the file, or the most usual one. */
  alias?: { pattern: string; target: string }
  /** The relative specifier that leads to the same file. */
  relative?: string
}

/** A call that runs where no request is served. */
export interface EarlyCall {
  /** Text of the callee, without `new`. */
  name: string
  from: { sdk: string } | { package: string; name: string } | { global: string }
  isNew: boolean
  /** The class whose instance is being built. `undefined` at module scope. */
  className: string | undefined
  place: Span
}

/** The imports of a file, for fixes that add one. */
interface Imports {
  file: string
  /** Offset at which a further import declaration may stand. */
  end: number
  /** `import { … }` of values, with the offset at which its last name ends. */
  named: { from: string; lastName: number }[]
  /** Every relative specifier. */
  relative: string[]
  names: { local: string; from: string; name: string }[]
  /** Every name that is in use at the top of the file. */
  taken: string[]
}

/** The decorator options of tsconfig.json, including those it extends. */
export interface Tsconfig {
  hasDecorators: boolean
  hasMetadata: boolean
  /** Span of the key `compilerOptions`, or of the file's first character. */
  options: Span
  /** Offset at which a further option may stand. */
  body: { start: number; isEmpty: boolean } | undefined
  /** Spans of the values, where tsconfig.json itself sets them. */
  decorators: Span | undefined
  metadata: Span | undefined
}

export interface Declarations {
  /** The file that must export the root module. */
  entry: string
  /** All files that were read. */
  files: ReadonlySet<string>
  /** The files that the worker loads. The others may be programs of their own, like a seed script. */
  bundled: ReadonlySet<string>
  classes: ClassDeclaration[]
  lostImports: LostImport[]
  /** Files that could not be read. None of their declarations is known. */
  unreadable: { reason: string; isOfSystem: boolean; place: Span }[]
  /** Decorators of the SDK at places where they declare nothing. */
  strayDecorators: Decorator[]
  unimported: UnimportedDecorator[]
  foreignDecorators: ForeignDecorator[]
  earlyCalls: EarlyCall[]
  evals: { text: string; place: Span }[]
  /** A file imports `Database` from the SDK, or imports the whole SDK. */
  usesDatabase: boolean
  /** A file imports an ambient service from the SDK, or the whole SDK: the worker must then track the request being served. */
  usesServices: boolean
  imports: Imports[]
  /** Files whose default export another file imports. */
  defaultImports: string[]
  /** Calls in row-level security policies that Postgres runs once for each row. */
  policyCalls: PolicyCall[]
  /** Tables and views that the migrations leave, as far as their text proves it. Empty where SQL inside a string may change them. */
  relations: Relation[]
  /** `undefined` where there is no tsconfig.json. */
  tsconfig: Tsconfig | undefined
  /** Decorators of the SDK that are used as values. */
  argumentValues: { name: string; place: Span }[]
  syntaxErrors: { message: string; place: Span }[]
}

/** A table or view as it is after all migrations, as far as their text proves it. */
export interface Relation {
  /** Quoted where Postgres needs it, and with its schema unless that is `public`. */
  name: string
  kind: 'table' | 'view' | 'materialized view'
  /** Span of the name in the statement that creates it. */
  place: Span
  /** Row-level security is enabled. Always false for views. */
  hasRowSecurity: boolean
  /** A view without `security_invoker`. The policies of the view's owner apply to it, and an owner has none. */
  runsAsOwner: boolean
  /** Its SQL comment contains `@stack public`. */
  isPublic: boolean
  /** The grant that lets every user reach it. */
  granted: { to: string; place: Span } | undefined
}

/** A call like `auth.uid()` in a row-level security policy of `migrations/`. */
export interface PolicyCall {
  name: string
  place: Span
}

export function hasRole(declaration: ClassDeclaration, role: ClassRole): boolean {
  return declaration.decorators.some(({ name }) => name === role)
}

export function decoratorOf(declaration: { decorators: Decorator[] }, name: string): Decorator | undefined {
  return declaration.decorators.find((decorator) => decorator.name === name)
}

/** The value of one option. An option whose value is `undefined` counts as absent. */
export function option(record: StaticValue | undefined, key: string): StaticValue | undefined {
  const value = record?.kind === 'record' ? record.entries.find((entry) => entry.key === key)?.value : undefined
  return value?.kind === 'literal' && value.value === undefined ? undefined : value
}

/** Every key of the record is known. */
export function isReadable(record: StaticValue): boolean {
  return record.kind === 'record' && record.entries.every(({ key }) => !unreadable.has(key))
}

/** The string that a value is, or `undefined` where it is no string. */
export function text(value: StaticValue | undefined): string | undefined {
  return value?.kind === 'literal' && typeof value.value === 'string' ? value.value : undefined
}

/** The classes that a module's list names. */
export function listed(module: ClassDeclaration, list: string): (StaticValue & { kind: 'class' })[] {
  const value = option(decoratorOf(module, 'Module')?.arguments[0], list)
  return value?.kind === 'list' ? value.items.filter((item) => item.kind === 'class') : []
}

/** `{ provide: Orders, useClass: PgOrders }` among the providers: dependencies on the first get an instance of the second. */
export interface Recipe {
  provide: StaticValue & { kind: 'class' }
  useClass: StaticValue & { kind: 'class' }
  place: Span
}

/** The recipes of a module that name both classes. */
export function recipesOf(module: ClassDeclaration): Recipe[] {
  return recipeItems(module).flatMap((item) => {
    const [provide, useClass] = [option(item, 'provide'), option(item, 'useClass')]
    return provide?.kind === 'class' && useClass?.kind === 'class' ? [{ provide, useClass, place: item.place }] : []
  })
}

/** The classes that a module's recipes provide. It includes recipes without `useClass`, which another check refuses. */
export function providedByRecipe(module: ClassDeclaration): (StaticValue & { kind: 'class' })[] {
  return recipeItems(module).flatMap((item) => {
    const provide = option(item, 'provide')
    return provide?.kind === 'class' ? [provide] : []
  })
}

function recipeItems(module: ClassDeclaration): StaticValue[] {
  const value = option(decoratorOf(module, 'Module')?.arguments[0], 'providers')
  return value?.kind === 'list' ? value.items : []
}
