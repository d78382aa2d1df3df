/**
 * Hashes of passwords: argon2id (RFC 9106) of the peppered password, in PHC form. A hash of another system is marked as imported until
 * the first sign-in replaces it. Lengths count code points (OWASP ASVS 6.2).
 */
import { type Settings, settingsDefaults } from '../../wire/settings.ts'
import { authError } from '../shared/errors.ts'
import { authenticate } from '../shared/seal.ts'
import { type Argon2Cost, argon2id } from './argon2.ts'
import { isImportedPassword } from './imported.ts'
import { decode, encode, isSame } from './phc.ts'

/** The parameters that OWASP recommends. */
const cost: Argon2Cost = { memorySize: 19456, passes: 2, parallelism: 1 }
/** Bytes of a hash. RFC 9106 section 4 recommends them. */
const tagLength = 32
/** Bytes of a salt. RFC 9106 section 3.1 recommends them for passwords. */
const saltBytes = 16
/** Stands before an imported hash, which is of the password without the pepper. */
const importedMark = 'imported:'

/** The pepper bounds the length, makes any input legal, and keeps a stolen table of hashes useless. */
async function peppered(password: string, salt: Uint8Array, parameters: Argon2Cost): Promise<Uint8Array> {
  const bytes = await authenticate('PASSWORD_PEPPER', new TextEncoder().encode(password))
  return argon2id(bytes, salt, parameters, tagLength)
}

/** @returns `$argon2id$v=19$m=…,t=…,p=…$salt$hash` */
export async function hashPassword(password: string): Promise<string> {
  const salt = crypto.getRandomValues(new Uint8Array(saltBytes))
  const { memorySize, passes, parallelism } = cost
  return `$argon2id$v=19$m=${memorySize},t=${passes},p=${parallelism}$${encode(salt)}$${encode(await peppered(password, salt, cost))}`
}

/** The form in which an imported hash is stored. @param text a hash without an `importFault`. */
export function importedHash(text: string): string {
  return `${importedMark}${text}`
}

/**
 * Costs the same whether there is a hash or not: an unknown address cannot be told from a wrong password by time. Only an imported hash
 * costs what its own parameters say.
 */
export async function isPassword(password: string, phc: string | undefined): Promise<boolean> {
  if (phc?.startsWith(importedMark)) return isImportedPassword(password, phc.slice(importedMark.length))
  const [, , , parameters = '', salt, hash] = (phc ?? '').split('$')
  const stored = /^m=(\d+),t=(\d+),p=(\d+)$/.exec(parameters)
  const used = stored
    ? { memorySize: Number(stored[1]), passes: Number(stored[2]), parallelism: Number(stored[3]) }
    : cost
  const computed = await peppered(password, salt === undefined ? new Uint8Array(saltBytes) : decode(salt), used)
  const isEqual = isSame(computed, hash === undefined ? new Uint8Array(tagLength) : decode(hash))
  return isEqual && phc !== undefined
}

/** Whether a hash was made as new ones are: one that was not is replaced at the next sign-in. */
export function isCurrent(phc: string): boolean {
  const { memorySize, passes, parallelism } = cost
  return phc.startsWith(`$argon2id$v=19$m=${memorySize},t=${passes},p=${parallelism}$`)
}

/** @throws HttpError 400 `invalid_password` */
export function requirePasswordFits(password: string, settings: Settings): void {
  const least = settings.password_min_length ?? settingsDefaults.password_min_length
  const most = settings.password_max_length ?? settingsDefaults.password_max_length
  const length = [...password].length
  if (length >= least && length <= most) return
  const reason = `the password must have ${least} to ${most} characters`
  throw authError('invalid_password', reason, { fields: [{ path: 'password', reason }] })
}
