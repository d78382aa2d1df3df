/**
 * The shape of every error of both workers (contract 6.1) and the codes that both workers use (6.2). The codes of the auth
 * module's own routes stand in `src/auth/shared/errors.ts`, because a module ships its errors. `test/shape/lists.test.ts` holds
 * every code that is thrown to these two files.
 */

/** Each code with its status, and with the description of an error that gives none. */
export const errorCodes = {
  invalid_request: { status: 400, description: 'the request is not valid' },
  unknown_parameter: { status: 400, description: 'there is no such query parameter' },
  unauthorized: { status: 401, description: 'a valid access token is required' },
  forbidden: { status: 403, description: 'this is not allowed' },
  email_not_verified: { status: 403, description: 'a verified email address is required' },
  device_required: { status: 403, description: 'this route requires a request that an attested device has signed' },
  not_found: { status: 404, description: 'there is nothing at this address' },
  method_not_allowed: { status: 405, description: 'this address does not answer that method' },
  request_timeout: { status: 408, description: 'the body did not arrive in time' },
  conflict: { status: 409, description: 'this conflicts with what is stored' },
  precondition_failed: { status: 412, description: 'this was changed meanwhile' },
  payload_too_large: { status: 413, description: 'the body is too large' },
  unsupported_media_type: { status: 415, description: 'the content type must be application/json' },
  rate_limited: { status: 429, description: 'too many requests' },
  internal_error: { status: 500, description: 'the request could not be completed' },
  handler_failed: { status: 500, description: 'the handler for this event failed' },
  unavailable: { status: 503, description: 'the service is unavailable at the moment' },
} as const satisfies Record<string, { status: number; description: string }>

export type ErrorCode = keyof typeof errorCodes

/** One violation of a request. */
export interface FieldError {
  /** The place of the violation, like `email` or `permissions.0`. `body` names the whole body. */
  path: string
  /** A sentence that says what is wrong there. */
  reason: string
}

/** The JSON body of an error. */
export interface ErrorEnvelope {
  /** A code in snake_case, which does not change between versions. */
  error: string
  /** A sentence for a person. */
  error_description: string
  /** The HTTP status of the response. */
  status: number
  /** The value of the header `x-request-id`. */
  request_id: string
}
