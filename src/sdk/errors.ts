/** What the SDK throws. */
import { type ErrorCode, errorCodes, type FieldError } from '../wire/envelope.ts'

export interface HttpErrorDetails {
  /** What was wrong with which part of the request. */
  fields?: FieldError[]
  /** Further members of the body, beside the envelope's own. */
  body?: Record<string, unknown>
  headers?: Record<string, string>
}

/** An answer: `throw new HttpError(404, 'not_found', 'there is no order 7')` becomes the error envelope (contract 2.3). */
export class HttpError extends Error {
  override name = 'HttpError'
  readonly status: number
  readonly code: string
  /** Sent with the envelope. */
  readonly details: HttpErrorDetails

  /**
   * @param status 400 … 599.
   * @param code the envelope's `error`, in snake_case.
   * @param description the envelope's `error_description`.
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

/** As V8 has it: how many frames an error keeps. */
const frames = Error as { stackTraceLimit?: number }

/** The answer of one of the contract's own codes. Nobody reads where it was made, and finding that out is not free. */
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

/** An ambient service was used at module scope, in a constructor, or after its request had ended (contract 2.6). */
export class OutsideRequest extends Error {
  override name = 'OutsideRequest'

  constructor(service: string) {
    super(`${service} was used outside a request: call it inside a handler, while the request is served`)
  }
}

/** A role was to be assigned or revoked that `stack/roles.json` does not declare (contract 2.5). */
export class RoleNotDefined extends Error {
  override name = 'RoleNotDefined'
  readonly role: string

  constructor(role: string) {
    super(`no role "${role}" is declared`)
    this.role = role
  }
}

/** The auth worker refused a call, or did not answer (contract 2.5). Not caught, it is a 500 like any other error. */
export class TransportError extends Error {
  override name = 'TransportError'
  /** The envelope's `error`, or `unavailable`. */
  readonly code: string
  /** Of the answer; 503 where there was none. */
  readonly status: number
  /** Of the call to the auth worker, if it answered. */
  readonly requestId: string | undefined

  constructor(code: string, status: number, description: string, requestId?: string) {
    super(`${code}: ${description}`)
    this.code = code
    this.status = status
    this.requestId = requestId
  }
}

/** What a decorator does when it is executed after all. */
export function unbuilt(decorator: string): never {
  throw new Error(
    `@${decorator} is read by "stack build" and erased; it was executed, so this code was not built by it`,
  )
}
