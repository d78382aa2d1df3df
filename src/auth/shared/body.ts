import type { HttpError, StandardSchema } from '@stack/backend'
import { type AuthErrorCode, authError } from './errors.ts'

/** The faults of a body, each with its path. */
type Fields = NonNullable<HttpError['details']['fields']>

/**
 * A Standard Schema for `@Body()` whose refusal carries one of the module's own codes instead of `invalid_request`.
 *
 * @param read tells the value of a body, or what is wrong with it.
 * @example `const role = bodyOf<RoleBody, DeclaredRole>('invalid_role', readRoleBody)` and then `@Body(role) role: DeclaredRole`
 */
export function bodyOf<Input, Output = Input>(
  code: AuthErrorCode,
  read: (body: unknown) => { value: Output } | { fields: Fields },
): StandardSchema<Input, Output> {
  return {
    '~standard': {
      version: 1,
      vendor: 'stack-auth',
      validate(body) {
        const result = read(body)
        if ('value' in result) return result
        throw authError(code, result.fields[0]!.reason, { fields: result.fields })
      },
    },
  }
}
