/** Writes `.stack/roles.d.ts`: the declared roles as the type `StackRoleName` (contract 1.3). */

export function roleNames(roles: readonly string[]): string {
  const keys = [...roles].sort().map((role) => `    ${JSON.stringify(role)}: true\n`)
  return `// Written by "stack build" from stack/roles.json.
import '@stack/backend'

declare module '@stack/backend' {
  interface StackRoles {
${keys.join('')}  }
}
`
}
