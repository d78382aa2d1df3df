/**
 * What a project declares, as plain data: every fact with the place it was read from. `read/` makes these, `refuse/`
 * judges them, `link/` turns them into the route table; none of the latter two sees syntax.
 */
import type { Method } from '../runtime/table.ts'
import type { Unfit } from './project.ts'

/** A stretch of source; lines and columns count from 1, the end is exclusive. */
export interface Place {
  /** Relative to the project, with `/`. */
  file: string
  line: number
  column: number
  endLine: number
  endColumn: number
}

/** A value as far as it is known at build. */
export type Fact =
  | { kind: 'literal'; value: string | number | boolean | null | undefined; place: Place }
  | { kind: 'list'; items: Fact[]; place: Place }
  | { kind: 'record'; entries: Entry[]; place: Place }
  | { kind: 'class'; id: ClassId; place: Place }
  /** Known only at run time, or not at all: `text` is what was written. */
  | { kind: 'unknown'; text: string; place: Place }

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
  /** The name it is exported by, if it is exported by name. */
  exportName: string | undefined
  isDefaultExport: boolean
  isAbstract: boolean
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
  /** Has a default: where its type names no class, nobody need provide it. */
  isOptional: boolean
  /** The type as written. */
  type: string
}

/** A member of a class that carries a decorator of the SDK, itself or on a parameter. */
export interface Member {
  name: string
  place: Place
  /** Why it cannot serve as a handler, where it cannot. */
  unfit: Unfit | undefined
  marks: Mark[]
  parameters: HandlerParameter[]
}

interface HandlerParameter {
  name: string
  place: Place
  marks: Mark[]
}

export interface Declarations {
  /** The file that must export the root module. */
  entry: string
  /** Every file that was read. */
  files: ReadonlySet<string>
  classes: ClassDeclaration[]
  /** Relative imports that lead to no file. */
  lostImports: { specifier: string; place: Place }[]
  /** Decorators of the SDK that stand where no declaration is read. */
  strayMarks: Mark[]
  /** Decorators with a name of the SDK's that the file neither imports nor declares. */
  unimported: { name: string; place: Place }[]
  /** Decorators of the SDK that are used as values. */
  markValues: { name: string; place: Place }[]
  /** Files that do not parse. */
  syntaxErrors: { message: string; place: Place }[]
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
export function listed(module: ClassDeclaration, list: string): { id: ClassId; place: Place }[] {
  const fact = option(markOf(module, 'Module')?.arguments[0], list)
  return fact?.kind === 'list' ? fact.items.filter((item) => item.kind === 'class') : []
}
