/**
 * Modules and what they provide. Decorators are read by the build and erased: executed unbuilt, they throw
 * (contract 2.1).
 */
import { unbuilt } from './errors.ts'
import type { AuthRule } from './gates.ts'

/** A class that can be constructed, whatever its constructor takes. */
// biome-ignore lint/suspicious/noExplicitAny: any constructor is assignable to this alone
export type Class = new (...args: any[]) => object

/** A class that types a constructor parameter, and need not be one that can be constructed. */
// biome-ignore lint/suspicious/noExplicitAny: any constructor is assignable to this alone
type AbstractClass = abstract new (...args: any[]) => object

/**
 * The one instance of `useClass` is what every constructor parameter of the type `provide` receives.
 * @example { provide: Orders, useClass: PgOrders }
 */
export interface Recipe {
  /** An abstract class, or one that is replaced. */
  provide: AbstractClass
  /** Extends or implements it. */
  useClass: Class
}

export interface ModuleOptions {
  /** Modules whose exports this one's classes may depend on. */
  imports?: readonly Class[]
  /** Classes that serve routes. */
  controllers?: readonly Class[]
  /** Classes that can be depended on, webhooks, and recipes: which class answers for another one (contract 2.2). */
  providers?: readonly (Class | Recipe)[]
  /** What importing modules may depend on: providers of this module, or modules it imports. Absent: all providers. */
  exports?: readonly AbstractClass[]
  /** The application default, on the root module only (contract 2, 4.3). */
  auth?: AuthRule
  /** On the root module only. Without it no other origin's page reads an answer. */
  cors?: CorsOptions
}

/** Which other origins' pages may call the routes and read what they answer (Fetch, "CORS protocol"). */
export interface CorsOptions {
  /** `https://app.example`, with its port if it has one; or `['*']`. */
  origins: readonly string[]
  /** Cookies and the like are sent too; not with `*`. Default: false. */
  credentials?: boolean
  /** Headers that a page may send. Default: `authorization` and `content-type`. */
  headers?: readonly string[]
  /** Headers that a page may read. Default: `x-request-id`. */
  exposed?: readonly string[]
  /** Seconds that a browser may remember the answer to a preflight. Default: 600. */
  maxAge?: number
}

/** Lists the classes of one part of the application. */
export function Module(_options: ModuleOptions = {}): (target: Class) => void {
  return unbuilt('Module')
}

/** Marks a class that the container builds, with its constructor parameters' classes as dependencies (contract 2.2). */
export function Injectable(): (target: Class) => void {
  return unbuilt('Injectable')
}
