/** The one shape of every error of both workers (contract 6.1), and the closed list of the codes that both workers use (6.2). */

/** code → status and the description that is used where none is given */
export const errorCodes = {
  invalid_request: { status: 400, description: 'the request is not valid' },
  unknown_parameter: { status: 400, description: 'there is no such query parameter' },
  unauthorized: { status: 401, description: 'a valid access token is required' },
  forbidden: { status: 403, description: 'this is not allowed' },
  email_not_verified: { status: 403, description: 'a verified email address is required' },
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

/** What was wrong with one part of a request. */
export interface FieldError {
  /** Where, like `email` or `permissions.0`; `body` for the whole of it. */
  path: string
  reason: string
}

export interface ErrorEnvelope {
  error: string
  error_description: string
  /** The HTTP status, repeated. */
  status: number
  request_id: string
}
