/** Where an operation of the auth module is reached. `operations.ts` lists them all. */

/** The names of the parameters of a path: `id` and `role` of `/users/:id/roles/:role`. */
type Names<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Names<`/${Rest}`>
  : P extends `${string}:${infer Name}`
    ? Name
    : never

/** One value for each parameter of the path. Absent where the path has none. */
type Values<P extends string> = [Names<P>] extends [never] ? [] : [Record<Names<P>, string>]

/**
 * The path of an operation below the stack's base URL, with each value as one percent-encoded segment.
 *
 * @example `addressOf(roles.assign, { id: 'usr_1', role: 'staff' })` is `/v1/management/auth/users/usr_1/roles/staff`
 */
export function addressOf<const P extends string>({ path }: { path: P }, ...[values]: Values<P>): string {
  return path.replace(/:(\w+)/g, (_, name: Names<P>) => encodeURIComponent(values![name]))
}

/**
 * An operation as messages name it.
 *
 * @example `callOf(vault.put, { name: 'KEY' })` is `PUT /admin/vault/backend/KEY`
 */
export function callOf<const P extends string>(operation: { method: string; path: P }, ...values: Values<P>): string {
  return `${operation.method} ${addressOf(operation, ...values)}`
}
