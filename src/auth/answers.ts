/** The auth module's own error codes, and the bodies of its management calls. */
import { HttpError } from '@stack/backend'

/** code → status and description, beside those of `wire/envelope.ts` (contract 6.2) */
export const authErrors = {
  invalid_credentials: { status: 401, description: 'the email address or the password is wrong' },
  invalid_refresh_token: { status: 401, description: 'the refresh token is not valid any more: sign in again' },
  email_not_confirmed: { status: 403, description: 'the email address must be confirmed first' },
  email_taken: { status: 409, description: 'there is an account with this email address' },
  invalid_password: { status: 400, description: 'the password does not fit the policy' },
  invalid_settings: { status: 400, description: 'the settings are not valid' },
  invalid_role: { status: 400, description: 'the role is not valid' },
  role_not_defined: { status: 404, description: 'there is no such role' },
  vault_full: {
    status: 409,
    description: 'the vault is full: remove what nobody reads, or store large values elsewhere',
  },
  invalid_secret: { status: 400, description: 'the secret is not valid' },
  unknown_parameter: { status: 400, description: 'there is no such query parameter' },
  user_not_found: { status: 404, description: 'there is no such user' },
} as const satisfies Record<string, { status: number; description: string }>

export function authError(
  code: keyof typeof authErrors,
  description: string = authErrors[code].description,
  details: HttpError['details'] = {},
): HttpError {
  return new HttpError(authErrors[code].status, code, description, details)
}

/** A filter that is misspelt must not return everything. @throws HttpError 400 for a query parameter, whichever. */
export function refuseParameters(request: Request): void {
  const [name] = new URL(request.url).searchParams.keys()
  if (name !== undefined) throw authError('unknown_parameter', `there is no query parameter "${name}" here`)
}

/** The body of a management call, read after the gate: a caller without the key learns nothing before it. @throws HttpError 400, 413 */
export async function bodyOf(request: Request): Promise<unknown> {
  const bytes = await request.arrayBuffer()
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch {
    const reason = 'the body is not valid JSON'
    throw new HttpError(400, 'invalid_request', reason, { fields: [{ path: 'body', reason }] })
  }
}
