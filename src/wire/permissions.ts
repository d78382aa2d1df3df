/**
 * The forms of role names and permissions (contract 4.4), as the build, the auth module and its schema accept them: the
 * check constraints and `auth.has_permission` of `src/auth/schema/0005_names.sql` are these patterns in Postgres' own words.
 */

/** Neither form admits them: blanks, control characters, commas, and half of a surrogate pair, which is no character. */
const never = '\\s\\p{Cc}\\p{Cs},'

/** One side of a permission: its resource, or its action. */
const side = `[^${never}.]+`

/**
 * Most characters of a permission. The contract sets no limit, but an index entry of Postgres does: 2,704 bytes hold a
 * permission and a role's name of four bytes a character.
 */
const longest = 255

/**
 * 1 to 63 characters. `.` and `..` are no names: a URL takes them for steps of its path, also percent-encoded, so that no
 * request could assign such a role.
 */
export const roleName = new RegExp(`^(?!\\.{1,2}$)[^${never}/\\\\'"]{1,63}$`, 'u')

/** What a route or a policy asks for: `resource.action`. The action `*` belongs to roles alone. */
export const permission = new RegExp(`^(?=.{3,${longest}}$)${side}\\.(?!\\*$)${side}$`, 'u')

/** What a role may hold: `resource.action` or `resource.*`. */
export const grantedPermission = new RegExp(`^(?=.{3,${longest}}$)${side}\\.${side}$`, 'u')

/** Whether `held` gives `asked`. */
export function covers(held: string, asked: string): boolean {
  return held === asked || (held.endsWith('.*') && held.slice(0, -1) === asked.slice(0, asked.indexOf('.') + 1))
}
