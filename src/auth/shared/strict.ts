import type { StandardSchema } from '@stack/backend'
import { isObject } from '../../wire/faults.ts'
import { readStrictJson } from '../../wire/strict-json.ts'
import { bodyOf } from './body.ts'
import { type AuthErrorCode, authError } from './errors.ts'

/** The body of a handler that checks the document itself, because the check takes more than the body. */
export function objectBody<T extends object>(code: AuthErrorCode): StandardSchema<T> {
  return bodyOf<T>(code, (body) =>
    isObject(body) ? { value: body as T } : { fields: [{ path: 'body', reason: 'the body must be an object' }] },
  )
}

/**
 * Refuses a body for what `JSON.parse` does not tell: a name that stands twice, `null` where no field takes it, and deep nesting.
 *
 * @param request of a handler that takes `@Body()` too: the body was read already, and is JSON.
 * @throws HttpError with the code, and one of `fields` for each fault.
 */
export async function requireStrict(request: Request, code: AuthErrorCode): Promise<void> {
  const { faults } = readStrictJson(await request.text(), { hasNull: false })
  const fields = faults.map(({ path, reason }) => ({ path: path.join('.').slice(0, 200) || 'body', reason }))
  requireFaultless(fields, code)
}

/** @throws HttpError with the code where there are faults. The first one is the description. */
export function requireFaultless(fields: readonly { path: string; reason: string }[], code: AuthErrorCode): void {
  if (fields.length > 0) throw authError(code, fields[0]!.reason, { fields: [...fields] })
}
