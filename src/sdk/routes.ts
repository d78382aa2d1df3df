/** Controllers and their routes. */
import { unbuilt } from './errors.ts'
import type { AuthRule } from './gates.ts'
import type { Class } from './modules.ts'

/** At most so many requests of one caller in so many seconds, approximately; more are answered 429 (contract 2.7). */
export interface RateLimit {
  requests: number
  seconds: 10 | 60
  /** `user`: who is signed in; everybody else counts by address. */
  by: 'user' | 'ip'
}

export interface ControllerOptions {
  /** Replaces the application default for this controller's routes. */
  auth?: AuthRule
  /** Counted over all of this controller's routes that have none of their own. */
  limit?: RateLimit
  /** Longest request body of this controller's routes, in bytes; see `RouteOptions.maxBodyBytes`. */
  maxBodyBytes?: number
}

export interface RouteOptions {
  /** Replaces the controller's rule, whole. */
  auth?: AuthRule
  /** Replaces the controller's limit, and is counted for this route alone. */
  limit?: RateLimit
  /**
   * Longest request body in bytes, 1 to 104,857,600 (the platform takes 100 MiB). A longer one is answered 413
   * `payload_too_large` before a transaction opens. Default: the controller's, else 1,048,576 (1 MiB).
   *
   * @example
   * ```ts
   * @Post('import', { maxBodyBytes: 8 * 1_048_576 })
   * ```
   */
  maxBodyBytes?: number
  /** HTTP status of a result that is neither a `Response` nor `undefined`. Default: 200. */
  status?: number
}

// biome-ignore lint/suspicious/noExplicitAny: a handler may take and return anything
type Handler = (...args: any[]) => unknown
type MethodMark = <F extends Handler>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<F>,
) => void

/** Serves the class's routes below `path`; a module lists it in `controllers`. */
export function Controller(_path = '', _options: ControllerOptions = {}): (target: Class) => void {
  return unbuilt('Controller')
}

/** `GET` at the controller's path plus this one; answers `HEAD` too. */
export function Get(_path = '', _options: RouteOptions = {}): MethodMark {
  return unbuilt('Get')
}

export function Post(_path = '', _options: RouteOptions = {}): MethodMark {
  return unbuilt('Post')
}

export function Put(_path = '', _options: RouteOptions = {}): MethodMark {
  return unbuilt('Put')
}

export function Patch(_path = '', _options: RouteOptions = {}): MethodMark {
  return unbuilt('Patch')
}

export function Delete(_path = '', _options: RouteOptions = {}): MethodMark {
  return unbuilt('Delete')
}
