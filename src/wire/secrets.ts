/** The rules for entries of the vault (contract 9.9), and for the names that webhooks give to them (contract 7.5). */

/** The form of an environment variable's name, of at most 128 characters. */
const secretName = /^(?!__)[A-Za-z_][A-Za-z0-9_]{0,127}$/

/** The beginnings of well-known providers' credentials. */
const credentialStart =
  /^(?:(?:whsec|sk|rk|pk|gh[oprsu]|github_pat|glpat|shp[a-z]{2}|xox[a-z])_|(?:AKIA|ASIA)[A-Z0-9]{16}$)/

/** From 32 characters on, letters with a digit and without a separator look like hex or base64: 16 bytes in hex have 32. */
const randomRun = 32
const encodedRun = new RegExp(`(?=[A-Za-z]*[0-9])[A-Za-z0-9]{${randomRun}}`)

/** Largest length of a value in UTF-16 units. */
export const longestSecret = 65_536

/** Largest total size of the sealed values of a vault in bytes, 8 MiB, because one RPC carries them all. */
export const longestVault = 8_388_608

/** Bindings that decide who may do what. The deployment sets them, so no entry of the vault may take their place. */
const reserved =
  /^(?:AUTH(?:_.*)?|STACK_.*|DATABASE_URL|DATABASE_SERVICE_URL|CLAIMS_KEY|SEALING_KEY(?:_PREVIOUS)?|PASSWORD_PEPPER|REFRESH_KEY|SERVICE_ROLE_KEY|STORAGE)$/i

/** Keys that a rotation has put in the place of bindings (contract 9.15). One that is absent was not rotated: its binding serves. */
export interface RotatedKeys {
  CLAIMS_KEY?: string | undefined
  SERVICE_ROLE_KEY?: string | undefined
}

/** The row that a sealed service-role key belongs to: moved to another row, it does not open. */
export const serviceRoleKeyPlace = (id: string) => `service-role key ${id}`

/** The line with which the auth worker logs a committed rotation. `stack start` follows it. */
export const rotationLine = 'the service-role key is rotated'

/** The auth worker's answer to the backend worker's request for the vault. */
export interface MirroredSecrets {
  /** Changes with every write. */
  revision: string
  /** Absent in the answer of an older version. */
  keys?: RotatedKeys
  /** Values by name. */
  entries: Record<string, string>
}

/** @returns the reason why an entry cannot have this name, or `undefined`. The reason never quotes a possible secret. */
export function secretNameFault(name: string): string | undefined {
  const malformed = nameFormFault(name)
  if (malformed) return malformed
  if (looksLikeValue(name)) {
    return 'the name looks like the value of a secret; a name is like PAYMENTS_SECRET'
  }
  if (name in Object.prototype)
    return `the name "${name}" cannot be used: every JavaScript object has a property of that name`
  if (reserved.test(name)) return `"${name}" is the stack's own name: the deployment binds it`
  return undefined
}

/**
 * Checks the form alone, for removing an entry. An older version may have accepted a name that is refused today.
 *
 * @returns the reason why no entry can have this name, or `undefined`.
 */
export function nameFormFault(name: string): string | undefined {
  if (secretName.test(name)) return undefined
  return 'the name of a secret has 1 to 128 letters, digits and _, and does not begin with a digit or with __'
}

/** A person may type the value in the place of the name. It must not be stored, logged or compiled as a name. */
function looksLikeValue(name: string): boolean {
  const isMixed = /[a-z]/.test(name) && /[A-Z]/.test(name) && /[0-9]/.test(name)
  return credentialStart.test(name) || encodedRun.test(name) || (isMixed && name.length >= randomRun)
}
