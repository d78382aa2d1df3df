/** Entries of the vault (contract 9.9), and the names by which webhooks ask for them (contract 7.5). */

/** The form of an environment variable's name. */
const secretName = /^(?!__)[A-Za-z_][A-Za-z0-9_]{0,127}$/

/** How the credentials of well-known providers begin. */
const credentialStart =
  /^(?:(?:whsec|sk|rk|pk|gh[oprsu]|github_pat|glpat|shp[a-z]{2}|xox[a-z])_|(?:AKIA|ASIA)[A-Z0-9]{16}$)/

/** Number of characters from which a text with a digit and without a separator is taken for hex or base64: 16 bytes in hex. */
const randomRun = 32
const encodedRun = new RegExp(`(?=[A-Za-z]*[0-9])[A-Za-z0-9]{${randomRun}}`)

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

/** @returns why a name cannot be an entry's, as a sentence that never quotes what may be a secret's value. */
export function secretNameFault(name: string): string | undefined {
  const malformed = nameFormFault(name)
  if (malformed) return malformed
  if (looksLikeValue(name)) {
    return 'the name looks like the value of a secret, and a name is like PAYMENTS_SECRET'
  }
  if (name in Object.prototype) return `"${name}" is no name: every object has a property of that name`
  if (reserved.test(name)) return `"${name}" is the stack's own: it is bound when a worker is deployed`
  return undefined
}

/** The form alone, for removing: an entry that an older version took under the wrong name must be removable. */
export function nameFormFault(name: string): string | undefined {
  if (secretName.test(name)) return undefined
  return 'the name of a secret has 1 to 128 letters, digits and _, and begins with no digit and not with __'
}

/** A person who mistakes the name for the value must not have it stored, logged or compiled as a name. */
function looksLikeValue(name: string): boolean {
  const isMixed = /[a-z]/.test(name) && /[A-Z]/.test(name) && /[0-9]/.test(name)
  return credentialStart.test(name) || encodedRun.test(name) || (isMixed && name.length >= randomRun)
}
