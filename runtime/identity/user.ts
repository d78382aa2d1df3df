/** The user object that handlers receive (contract, "Authenticated user object"). */
import type { AttestedDevice, UserT } from '../../src/sdk/user.ts'
import type { Identity } from './identify.ts'

/** @param roles as the database has them at this request. @param device that has signed the request. */
export function userOf({ claims, role }: Identity, roles: string[], device: AttestedDevice | null): UserT {
  const { email } = claims
  return {
    id: claims.sub,
    ...(typeof email === 'string' ? { email } : {}),
    role,
    emailVerified: claims['email_verified'] === true,
    metadata: {},
    roles,
    device,
  }
}
