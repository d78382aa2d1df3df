/** The errors of the SDK, and the error that an unbuilt decorator throws. */
import { type ErrorCode, errorCodes, type FieldError } from '../wire/envelope.ts'

/**
 * Further parts of an error's answer.
 *
 * @example
 * ```ts
 * const details: HttpErrorDetails = {
 *   fields: [{ path: 'quantity', reason: 'only 3 are left' }],
 *   headers: { 'retry-after': '60' },
 * }
 * ```
 */
export interface HttpErrorDetails {
  /** The violations of the request: each a `path` like `items.0` and a `reason`. Sent as `fields`. Default: none. */
  fields?: FieldError[]
  /** Members that the body has beside those of the envelope, which they cannot replace. Default: none. */
  body?: Record<string, unknown>
  /** Headers of the answer. The runtime's own headers win. Default: none. */
  headers?: Record<string, string>
}

/**
 * An error that becomes the answer of a route. Where the handler throws it, both transactions roll back, and the caller gets the
 * status with the error envelope (contract 2.3, 6.1). Where the handler returns it, the answer is the same, and both transactions
 * commit. Other errors are answered as contract 2.3 and 2.13 say, and only logged. A webhook's handler returns it to answer another
 * status, and both transactions roll back. The sender gets 500 `handler_failed` where that handler throws it.
 *
 * @example
 * ```ts
 * async function orderOf(id: string) {
 *   const [order] = await Database.sql`select * from orders where id = ${id}`
 *   if (!order) throw new HttpError(404, 'not_found', `there is no order ${id}`)
 *   return order
 * }
 * ```
 */
export class HttpError extends Error {
  override name = 'HttpError'
  /** The HTTP status of the answer. */
  readonly status: number
  /** The envelope's `error`. */
  readonly code: string
  /** The further parts of the answer. */
  readonly details: HttpErrorDetails

  /**
   * @param status from 400 to 599.
   * @param code the envelope's `error`, in snake_case. Any code is allowed (contract 6.2).
   * @param description the envelope's `error_description`: a sentence for the caller.
   * @param details violations, further members of the body, and headers.
   * @throws RangeError for another status.
   */
  constructor(status: number, code: string, description: string, details: HttpErrorDetails = {}) {
    super(description)
    if (!Number.isInteger(status) || status < 400 || status > 599) {
      throw new RangeError(`an HttpError's status is 400 to 599, not ${status}`)
    }
    this.status = status
    this.code = code
    this.details = details
  }
}

/** V8's limit for the number of frames that an error records. */
const frames = Error as { stackTraceLimit?: number }

/** @returns the error of one of the runtime's own codes, without a stack: capturing one is slow, and a 4xx is not logged. */
export function httpError(
  code: ErrorCode,
  description: string = errorCodes[code].description,
  details: HttpErrorDetails = {},
): HttpError {
  const limit = frames.stackTraceLimit
  frames.stackTraceLimit = 0
  try {
    return new HttpError(errorCodes[code].status, code, description, details)
  } finally {
    frames.stackTraceLimit = limit as number
  }
}

/**
 * An ambient service was used at module scope, in a constructor, or after its handler had returned (contract 2.6). To mend
 * it, call the service inside the handler and await what it returns.
 *
 * @example
 * ```ts
 * async function logIfServed(message: string) {
 *   try {
 *     Log.info(message)
 *   } catch (error) {
 *     if (!(error instanceof OutsideRequest)) throw error
 *   }
 * }
 * ```
 */
export class OutsideRequest extends Error {
  override name = 'OutsideRequest'

  constructor(service: string) {
    super(`${service} was used outside a request: call it inside a handler, while the request is served`)
  }
}

/**
 * The role that `Auth.assignRole` or `Auth.revokeRole` was given is not declared (contract 2.5). Declare it in
 * `stack/roles.json`. An error that is not caught is answered 500.
 *
 * @example
 * ```ts
 * async function promote(userId: string) {
 *   try {
 *     await Auth.assignRole(userId, 'staff')
 *   } catch (error) {
 *     if (error instanceof RoleNotDefined) throw new HttpError(409, 'conflict', `declare the role ${error.role} first`)
 *     throw error
 *   }
 * }
 * ```
 */
export class RoleNotDefined extends Error {
  override name = 'RoleNotDefined'
  /** The name of the role. */
  readonly role: string

  constructor(role: string) {
    super(`no role "${role}" is declared`)
    this.role = role
  }
}

/**
 * The auth worker refused a call of `Auth` or `Notifications`, or could not be reached (contract 2.5). An error that is not caught is answered
 * 500.
 *
 * @example
 * ```ts
 * async function rolesOrNone(userId: string) {
 *   try {
 *     return await Auth.rolesOf(userId)
 *   } catch (error) {
 *     if (error instanceof TransportError && error.code === 'user_not_found') return []
 *     throw error
 *   }
 * }
 * ```
 */
export class TransportError extends Error {
  override name = 'TransportError'
  /** The `error` of the auth worker's answer, or `unavailable` where there was none. */
  readonly code: string
  /** The HTTP status of the auth worker's answer, or 503 where there was none. */
  readonly status: number
  /** The id of the call to the auth worker, or `undefined` where it did not answer. */
  readonly requestId: string | undefined

  constructor(code: string, status: number, description: string, requestId?: string) {
    super(`${code}: ${description}`)
    this.code = code
    this.status = status
    this.requestId = requestId
  }
}

/** The body of each decorator. @throws Error always, because a built worker never executes a decorator. */
export function unbuilt(decorator: string): never {
  throw new Error(
    `@${decorator} is read by "stack build" and erased, and it was executed here: run the worker that the build writes to .stack/out`,
  )
}
