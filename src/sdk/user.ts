/** The authenticated caller, made of verified claims and of the roles read on this very request. */
export interface UserT {
  /** The `sub` claim: the owner key of the user's rows. */
  id: string
  /** Absent for users without an address. */
  email?: string
  /** The token's `role` claim: `authenticated`, or `anon` for an anonymous session. Never an application role. */
  role: string
  /** True exactly when the `email_verified` claim is true. */
  emailVerified: boolean
  /** Always empty: the token has no such claim. */
  metadata: Record<string, unknown>
  /** Application roles, read from the database on every request; empty when none. */
  roles: string[]
  /** Null: no device attestation is verified. */
  device: object | null
}
