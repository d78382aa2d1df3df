/** Where an operation of the auth module is reached. */

/** The names of the parameters of a path: `id` and `role` of `/users/:id/roles/:role`. */
type Names<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Names<`/${Rest}`>
  : P extends `${string}:${infer Name}`
    ? Name
    : never

/**
 * The path of an operation below the stack's base URL, each value as one percent-encoded segment.
 *
 * @param values one for each parameter of the path; absent where it has none.
 * @example `addressOf(roles.assign, { id: 'usr_1', role: 'staff' })` is `/v1/management/auth/users/usr_1/roles/staff`
 */
export function addressOf<const P extends string>(
  { path }: { path: P },
  ...[values]: [Names<P>] extends [never] ? [] : [Record<Names<P>, string>]
): string {
  return path.replace(/:(\w+)/g, (_, name: Names<P>) => encodeURIComponent(values![name]))
}
