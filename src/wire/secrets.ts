/** Entries of the vault (contract 9.9). */

/** What a name may be: that of an environment variable, and of no property that every object has. */
const secretName = /^(?!__)[A-Za-z_][A-Za-z0-9_]{0,127}$/

/** In UTF-16 units. */
export const longestSecret = 65_536

/** All values of a vault as they are sealed: they cross to the backend worker at once. */
export const longestVault = 8_388_608

/** What decides who may do what is bound when a worker is deployed; an entry must not stand in for it. */
const reserved =
  /^(?:AUTH(?:_.*)?|STACK_.*|DATABASE_URL|DATABASE_SERVICE_URL|CLAIMS_KEY|SEALING_KEY|SERVICE_ROLE_KEY|STORAGE)$/i

/** What the auth worker tells the backend worker of the vault. */
export interface MirroredSecrets {
  /** Another one after every write. */
  revision: string
  /** Values by name. */
  entries: Record<string, string>
}

/** @returns why a name is none, as a sentence; `undefined` for one that is. */
export function refuseSecretName(name: string): string | undefined {
  if (!secretName.test(name)) return `"${name}" is no name: letters, digits and _, no digit first, 128 at most`
  if (name in Object.prototype) return `"${name}" is no name: every object has a property of that name`
  if (reserved.test(name)) return `"${name}" is the stack's own: it is bound when a worker is deployed`
  return undefined
}
