/** Who may administer the environment (contract 9.7): one 401 and one 403, whatever was wrong. */
import { HttpError, Secrets, type UserT } from '@stack/backend'
import { refuseParameters } from './answers.ts'

/**
 * Passes for the service-role key in `apikey`. DPoP is refused. No management route takes a query parameter, so that a
 * misspelt filter is refused here for all of them.
 *
 * @param user the caller of a verified access token: known, and still not allowed.
 * @throws HttpError 401, 403, 400 `unknown_parameter`
 */
export async function requireServiceRole(request: Request, user: UserT | null): Promise<void> {
  const usesDpop = request.headers.has('dpop') || /^dpop\b/i.test(request.headers.get('authorization') ?? '')
  const key = request.headers.get('apikey')
  if (!usesDpop && key && (await isSame(key, Secrets.get('SERVICE_ROLE_KEY')))) return refuseParameters(request)
  if (user) throw new HttpError(403, 'forbidden', 'this credential may not administer the stack')
  throw new HttpError(401, 'unauthorized', 'the service-role key is required')
}

/** In constant time: digests are compared, whose lengths are equal. */
async function isSame(one: string, other: string): Promise<boolean> {
  const encoder = new TextEncoder()
  const [a, b] = await Promise.all([one, other].map((text) => crypto.subtle.digest('SHA-256', encoder.encode(text))))
  return crypto.subtle.timingSafeEqual(a!, b!)
}
