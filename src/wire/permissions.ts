/**
 * The forms of role names and permissions (contract 4.4). The build and the auth module check names with these patterns.
 * `src/auth/migrations/0005_names.sql` has the same patterns as Postgres writes them.
 */

/** Characters that no name has: blanks, control characters, commas, and half of a surrogate pair. */
const never = '\\s\\p{Cc}\\p{Cs},'

/** The resource or the action of a permission. */
const side = `[^${never}.]+`

/**
 * Largest number of characters of a permission. An index entry of Postgres has at most 2,704 bytes, which must hold a
 * permission and a role's name at four bytes a character.
 */
const longest = 255

/**
 * The name of a role: 1 to 63 characters. `.` and `..` are no names, because a URL takes them for steps of its path, even
 * percent-encoded. No request could assign such a role.
 */
export const roleName = new RegExp(`^(?!\\.{1,2}$)[^${never}/\\\\'"]{1,63}$`, 'u')

/** The permission that a route or a policy asks for: `resource.action`. Only a role may have the action `*`. */
export const permission = new RegExp(`^(?=.{3,${longest}}$)${side}\\.(?!\\*$)${side}$`, 'u')

/** A permission that a role may hold: `resource.action` or `resource.*`. */
export const grantedPermission = new RegExp(`^(?=.{3,${longest}}$)${side}\\.${side}$`, 'u')

/** @returns whether a role that holds the permission `held` has the permission `asked`. */
export function covers(held: string, asked: string): boolean {
  return held === asked || (held.endsWith('.*') && held.slice(0, -1) === asked.slice(0, asked.indexOf('.') + 1))
}
