/**
 * What a project declares, as plain data: every fact with the place it was read from. `read/` makes these, `refuse/`
 * judges them, `link/` turns them into the route table; none of the latter two sees syntax.
 */
import type { Method } from '../runtime/table.ts'
import type { Unfit } from './classes.ts'

export const sdkName = '@stack/backend'

/** A stretch of source, as offsets into its text; the end is exclusive. */
export interface Span {
  /** Relative to the project, with `/`. */
  file: string
  start: number
  end: number
}

/** The same as people count: from 1. */
export interface Location extends Span {
  line: number
  column: number
  endLine: number
  endColumn: number
}

/**
 * A value as far as it is known at build. An unknown one `isLost` where it comes from a file that cannot be read or found. One that is written elsewhere, or inside of something (parentheses, `as const`),
 * has the place where it is used: no edit can go by it.
 */
export type StaticValue =
  | { kind: 'literal'; value: string | number | boolean | null | undefined; place: Span; isElsewhere?: true }
  | { kind: 'list'; items: StaticValue[]; place: Span; isElsewhere?: true }
  | { kind: 'record'; entries: Entry[]; place: Span; isElsewhere?: true }
  | { kind: 'class'; id: ClassId; place: Span; isElsewhere?: true }
  /** Known only at run time, or not at all: `text` is what was written. */
  | { kind: 'unknown'; text: string; place: Span; isElsewhere?: true; isType?: true; isLost?: true }

/** Keys of entries that cannot be read: a spread of something unknown, a computed key. */
export const spreadKey = '...'
export const computedKey = '[…]'
export const unreadable: ReadonlySet<string> = new Set([spreadKey, computedKey])

export interface Entry {
  key: string
  keyPlace: Span
  value: StaticValue
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
export interface Decorator {
  name: string
  /** Of the whole decorator, with its `@`. */
  place: Span
  isCalled: boolean
  arguments: StaticValue[]
}

export interface ClassDeclaration {
  id: ClassId
  name: string
  file: string
  /** Of its name. */
  place: Span
  line: number
  /** Offset of `class`, or `abstract class`. */
  keyword: number
  /** The same, with `export` before it. */
  start: number
  /** Its type is exported, and itself not. */
  isTypeExported: boolean
  defaultKeyword: Span | undefined
  /** The name it is exported by, if it is exported by name. */
  exportName: string | undefined
  isDefaultExport: boolean
  isAbstract: boolean
  /** Is, or may be, a Standard Schema itself. */
  isSchema: boolean
  /** What stands after `implements`: names without arguments, and the classes of the project among them. */
  implemented: { name: string; id: ClassId | undefined }[]
  /** The class of the project that it extends. */
  base: { id: ClassId; place: Span } | undefined
  decorators: Decorator[]
  dependencies: Dependency[]
  /** What the constructor takes is not known: it is inherited from something that the build cannot read. */
  unknownBase: Span | undefined
  members: Member[]
  /** Of every member that exists at run time; one that stands twice replaces itself. */
  memberNames: string[]
}

/** One constructor parameter. */
export interface Dependency {
  parameter: string
  place: Span
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
  place: Span
  line: number
  /** Why it cannot serve as a handler, where it cannot. */
  unfit: Unfit | undefined
  decorators: Decorator[]
  parameters: HandlerParameter[]
  /** A result that is neither nothing nor a `Response`, where the text tells. */
  result: { text: string; place: Span } | undefined
}

export interface HandlerParameter {
  name: string
  place: Span
  decorators: Decorator[]
  /** As written; empty where there is none. */
  type: string
  typePlace: Span
  /** Every name in the type: keywords like `string` and `null`, the SDK's types by their own names, aliases resolved. */
  typeNames: string[]
}

/** A decorator with the name of one of the SDK's, or of a server framework, that comes from elsewhere. */
export interface ForeignDecorator {
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
  place: Span
}

/** A decorator that the file neither imports nor declares. */
export interface UnimportedDecorator {
  name: string
  place: Span
  /** The class at the top of the file that it stands on, or inside of. */
  classId: ClassId | undefined
}

/** An import that leads to no file, or of a package that is not installed. */
export interface LostImport {
  specifier: string
  place: Span
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
  place: Span
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
  options: Span
  /** Where a further option may stand. */
  body: { start: number; isEmpty: boolean } | undefined
  /** The values, where this very file gives them. */
  decorators: Span | undefined
  metadata: Span | undefined
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
  unreadable: { reason: string; isOfSystem: boolean; place: Span }[]
  /** Decorators of the SDK that stand where no declaration is read. */
  strayDecorators: Decorator[]
  unimported: UnimportedDecorator[]
  /** Decorators that have a name of the SDK's, or are a server framework's, and come from elsewhere. */
  foreignDecorators: ForeignDecorator[]
  /** Calls at module scope, and while instances are built. */
  earlyCalls: EarlyCall[]
  evals: { text: string; place: Span }[]
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
  argumentValues: { name: string; place: Span }[]
  /** Files that do not parse. */
  syntaxErrors: { message: string; place: Span }[]
}

/** A table or view as the migrations leave it, as far as their text proves it. */
export interface Relation {
  /** As it is called in its schema. */
  name: string
  kind: 'table' | 'view' | 'materialized view'
  /** Span of the name in the statement that creates it. */
  place: Span
  /** Only a table has it. */
  hasRowSecurity: boolean
  /** Only a view has it. Without `security_invoker` the policies of the view's owner apply, and an owner has none. */
  runsAsOwner: boolean
  /** A comment on it says `@stack public`. */
  isPublic: boolean
  /** What lets every user reach it. */
  granted: { to: string; place: Span } | undefined
}

/** A call of `auth.uid()` and its like in a policy of `migrations/`. */
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

/** The value of one option; one that is given as `undefined` is not given. */
export function option(record: StaticValue | undefined, key: string): StaticValue | undefined {
  const value = record?.kind === 'record' ? record.entries.find((entry) => entry.key === key)?.value : undefined
  return value?.kind === 'literal' && value.value === undefined ? undefined : value
}

/** Whether every option of a record can be read. */
export function isReadable(record: StaticValue): boolean {
  return record.kind === 'record' && record.entries.every(({ key }) => !unreadable.has(key))
}

/** The text of a fact, or `undefined` where it is no text. */
export function text(fact: StaticValue | undefined): string | undefined {
  return fact?.kind === 'literal' && typeof fact.value === 'string' ? fact.value : undefined
}

/** The classes that a module's list names. */
export function listed(module: ClassDeclaration, list: string): (StaticValue & { kind: 'class' })[] {
  const fact = option(decoratorOf(module, 'Module')?.arguments[0], list)
  return fact?.kind === 'list' ? fact.items.filter((item) => item.kind === 'class') : []
}

/** `{ provide: Orders, useClass: PgOrders }` among the providers: an instance of the second answers for the first. */
export interface Recipe {
  provide: StaticValue & { kind: 'class' }
  useClass: StaticValue & { kind: 'class' }
  place: Span
}

/** The recipes of a module that name two classes. */
export function recipesOf(module: ClassDeclaration): Recipe[] {
  return recipeItems(module).flatMap((item) => {
    const [provide, useClass] = [option(item, 'provide'), option(item, 'useClass')]
    return provide?.kind === 'class' && useClass?.kind === 'class' ? [{ provide, useClass, place: item.place }] : []
  })
}

/** The classes that recipes of a module provide, also those that name no class to use: that is refused itself. */
export function providedByRecipe(module: ClassDeclaration): (StaticValue & { kind: 'class' })[] {
  return recipeItems(module).flatMap((item) => {
    const provide = option(item, 'provide')
    return provide?.kind === 'class' ? [provide] : []
  })
}

function recipeItems(module: ClassDeclaration): StaticValue[] {
  const fact = option(decoratorOf(module, 'Module')?.arguments[0], 'providers')
  return fact?.kind === 'list' ? fact.items : []
}
