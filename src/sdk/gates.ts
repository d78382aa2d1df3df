/** Who may call a route (contract 4). */

/**
 * The names that `stack/roles.json` declares, as keys; the build writes them into `.stack/roles.d.ts`.
 * Before a first build there are none.
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging
export interface StackRoles {}

/** A declared application role; `never` before a first build. */
export type StackRoleName = keyof StackRoles & string

/** `true` and `{}` require a signed-in user; only `false` and `{ required: false }` do not. */
export type AuthRule =
  | boolean
  | {
      /** Default: true. */
      required?: boolean
      /** The caller must hold this application role. */
      role?: StackRoleName
      /** The caller's roles must grant this `resource.action`. */
      permission?: string
      /** The caller's address must have been confirmed when the token was minted. */
      verifiedEmail?: boolean
    }
  | {
      /**
       * The route administers the stack (contract 4.6): `true` admits the service-role key and the access tokens of operators,
       * `'key'` the service-role key alone. This rule belongs to the auth module: in a project, the build refuses it.
       */
      serviceRole: true | 'key'
    }
