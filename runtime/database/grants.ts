/**
 * What a caller may do: roles, permissions, and whether the user is an operator. `transaction.ts` reads them anew for every request
 * that needs them (contract 3.5).
 */
export interface Grants {
  roles: string[]
  permissions: string[]
  /** The token claims management, and the list of operators names its user (contract 9.7). */
  operator: boolean
}

/** The grants of an anonymous caller. */
export const noGrants: Grants = { roles: [], permissions: [], operator: false }
