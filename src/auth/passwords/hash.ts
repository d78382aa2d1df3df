/** Hashes of passwords: argon2id (RFC 9106) of the peppered password, in PHC form. Lengths count code points (OWASP ASVS 6.2). */

import noSimd from 'argon2id/dist/no-simd.wasm'
import simd from 'argon2id/dist/simd.wasm'
import setup, { type computeHash } from 'argon2id/lib/setup.js'
import { type Settings, settingsDefaults } from '../../wire/settings.ts'
import { authError } from '../shared/errors.ts'
import { authenticate } from '../shared/seal.ts'

/** Memory in KiB, passes, lanes: the parameters that OWASP recommends. */
const cost = { memorySize: 19456, passes: 2, parallelism: 1 }
/** Bytes of a hash. RFC 9106 section 4 recommends them. */
const tagLength = 32
/** Bytes of a salt. RFC 9106 section 3.1 recommends them for passwords. */
const saltBytes = 16

/** One for each isolate, because an instance holds 65 MiB. A hash runs without a pause, so requests may share the instance. */
let hasher: Promise<computeHash> | undefined

async function argon2id(password: string, salt: Uint8Array, parameters: typeof cost): Promise<Uint8Array> {
  hasher ??= setup(
    async (imports) => ({ instance: new WebAssembly.Instance(simd, imports), module: simd }),
    async (imports) => ({ instance: new WebAssembly.Instance(noSimd, imports), module: noSimd }),
  ).catch((error: unknown) => {
    hasher = undefined // short of memory now, perhaps not next time
    throw error
  })
  const compute = await hasher
  // the pepper bounds the length, makes any input legal, and keeps a stolen table of hashes useless
  const peppered = await authenticate('PASSWORD_PEPPER', new TextEncoder().encode(password))
  return compute({ ...parameters, password: peppered, salt, tagLength })
}

/** @returns `$argon2id$v=19$m=…,t=…,p=…$salt$hash` */
export async function hashPassword(password: string): Promise<string> {
  const salt = crypto.getRandomValues(new Uint8Array(saltBytes))
  const { memorySize, passes, parallelism } = cost
  return `$argon2id$v=19$m=${memorySize},t=${passes},p=${parallelism}$${encode(salt)}$${encode(await argon2id(password, salt, cost))}`
}

/** Costs the same whether there is a hash or not: an unknown address cannot be told from a wrong password by time. */
export async function isPassword(password: string, phc: string | undefined): Promise<boolean> {
  const [, , , parameters = '', salt, hash] = (phc ?? '').split('$')
  const stored = /^m=(\d+),t=(\d+),p=(\d+)$/.exec(parameters)
  const used = stored
    ? { memorySize: Number(stored[1]), passes: Number(stored[2]), parallelism: Number(stored[3]) }
    : cost
  const computed = await argon2id(password, salt === undefined ? new Uint8Array(saltBytes) : decode(salt), used)
  const expected = hash === undefined ? new Uint8Array(tagLength) : decode(hash)
  const isEqual = computed.length === expected.length && crypto.subtle.timingSafeEqual(computed, expected)
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

function encode(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replace(/=+$/, '')
}

function decode(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}
