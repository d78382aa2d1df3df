/** The rules that decide who may call a route (contract 4). */

/**
 * The roles that `stack/roles.json` declares, as keys. The build writes them to `.stack/roles.d.ts`, so a project has none
 * before its first build.
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging
export interface StackRoles {}

/** The name of a declared application role. It is `never` before the first build. */
export type StackRoleName = keyof StackRoles & string

/**
 * The option `auth` of a route, a controller or the root module. `true` and `{}` require a signed-in user. Only `false` and
 * `{ required: false }` do not. The build resolves one rule for each route, and rules never merge (contract 4.3).
 *
 * A caller without a valid token gets 401 `unauthorized`. A signed-in caller who does not meet the rule gets 403 `forbidden`,
 * 403 `email_not_verified` or 403 `device_required`.
 *
 * @example
 * ```ts
 * const rule: AuthRule = { permission: 'orders.refund', verifiedEmail: true }
 * ```
 */
export type AuthRule =
  | boolean
  | {
      /** Whether the caller must be signed in. Default: true. */
      required?: boolean
      /** The application role that the caller must hold. It is read from the database in each request. */
      role?: StackRoleName
      /** The permission, `resource.action`, that the caller's roles must grant (contract 4.4). */
      permission?: string
      /** Whether the token must say that the caller's address was confirmed when it was minted. Default: false. */
      verifiedEmail?: boolean
      /**
       * Whether an attested device must have signed the request: else 403 `device_required`. `'once'` also refuses a copy of a request
       * that was handled, and makes each request write one row. Without the option a handler reads `user.device`.
       */
      device?: true | 'once'
    }
  | {
      /**
       * The route administers the stack (contract 4.6): `true` admits the service-role key and the access tokens of operators,
       * `'key'` the service-role key alone. This rule belongs to the auth module: in a project, the build refuses it.
       */
      serviceRole: true | 'key'
    }
