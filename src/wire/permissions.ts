/** The forms of role names and permissions (contract 4.4), as the build, the auth module and its schema accept them. */

export const roleName = /^[a-z][a-z0-9_-]{0,62}$/

/** What a route or a policy asks for: `resource.action`. */
export const permission = /^[a-z0-9_-]+\.[a-z0-9_-]+$/

/** What a role may hold: `resource.action` or `resource.*`. */
export const grantedPermission = /^[a-z0-9_-]+\.([a-z0-9_-]+|\*)$/

/** Whether `held` gives `asked`. */
export function covers(held: string, asked: string): boolean {
  return held === asked || (held.endsWith('.*') && held.slice(0, -1) === asked.slice(0, asked.indexOf('.') + 1))
}
