import { HttpError, type UserT } from '@stack/backend'

/** The caller of a route that admits guests too: a guest's session is verified, and not signed in. @throws HttpError 401 */
export function requireCaller(user: UserT | null): UserT {
  if (!user) throw new HttpError(401, 'unauthorized', 'a valid access token is required')
  return user
}
