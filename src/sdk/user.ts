/**
 * The authenticated caller. `@User()` and `@OptionalUser()` inject it (contract, "Authenticated user object").
 *
 * @example
 * ```ts
 * function isStaff({ roles }: UserT) {
 *   return roles.includes('staff')
 * }
 * ```
 */
export interface UserT {
  /** The claim `sub`. Policies compare it with `(select auth.uid())`. */
  id: string
  /** The claim `email`. Absent where the token has none. */
  email?: string
  /** `authenticated`, or `anon` for an anonymous session. It is never an application role. */
  role: string
  /** True exactly when the claim `email_verified` was true as the token was minted. */
  emailVerified: boolean
  /** Always empty: access tokens have no such claim. */
  metadata: Record<string, unknown>
  /** The application roles, which are read from the database in this request. */
  roles: string[]
  /** Always `null`: this version attests no devices. */
  device: object | null
}
