/** The secrets of a served stack: from the environment, from files, or made once and kept (contract 9.15). */
import * as fs from 'node:fs'
import { writeWhole } from '../../build/emit/write.ts'
import { mintKeys } from '../../local/keys.ts'

/** Secrets that are made where the environment does not give them. */
const made = {
  /** Seals what the database keeps of secrets. */
  SEALING_KEY: () => mintKeys().sealing_key,
  PASSWORD_PEPPER: () => mintKeys().password_pepper,
  REFRESH_KEY: () => mintKeys().refresh_key,
  CLAIMS_KEY: () => mintKeys().claims_key,
  SERVICE_ROLE_KEY: () => mintKeys().service_role_key,
  PUBLISHABLE_KEY: () => mintKeys().publishable_key,
  /** The passwords of the three logins follow from it. */
  DATABASE_LOGIN_KEY: () => mintKeys().passwords.stack_auth,
  /** The `aud` claim of access tokens. */
  AUTH_AUDIENCE: () => mintKeys().ref,
} as const

export type MadeName = keyof typeof made
const madeNames = Object.keys(made) as MadeName[]

export interface Secrets {
  values: Record<MadeName, string>
  /** Names that were made now. */
  fresh: MadeName[]
  /** The sealing key before the present one, during a rotation (contract 9.15). */
  previousSealingKey: string | undefined
  /** Keeps those that were made now. Before that, a start that fails has made nothing. */
  save(): void
  /** Goes on with the service-role key of a rotation, where the one before was made here. */
  adoptServiceRoleKey(key: string): void
}

/** A secret is given twice, or in a form that cannot be used. */
export class SecretFault extends Error {
  override name = 'SecretFault'
}

/** Largest secret in bytes. Linux limits one variable of a process to 128 KiB. */
const largestSecret = 65_536

/**
 * Reads a variable, or the file that `NAME_FILE` names, as orchestrators mount secrets. One newline at the end of a file is no part of it.
 * @throws SecretFault
 */
export function readVariable(environment: NodeJS.ProcessEnv, name: string): string | undefined {
  const [value, file] = [environment[name], environment[`${name}_FILE`]]
  if (file === undefined || file === '') return value === '' ? undefined : value
  if (value !== undefined && value !== '')
    throw new SecretFault(`${name} and ${name}_FILE are both set: unset one of them`)
  let text: string
  try {
    text = fs.readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw new SecretFault(`${name}_FILE cannot be read: ${(error as Error).message}`)
  }
  if (text === '') throw new SecretFault(`${file}, which ${name}_FILE names, is empty`)
  if (text.includes('\0') || Buffer.byteLength(text) > largestSecret) {
    throw new SecretFault(`${file}, which ${name}_FILE names, is no text of at most ${largestSecret} bytes`)
  }
  return text
}

/**
 * @param file keeps the secrets that were made, readable by its owner alone.
 * @throws SecretFault for a secret that the environment gives otherwise than the file.
 */
export function secretsAt(file: string, environment: NodeJS.ProcessEnv): Secrets {
  const kept = readKept(file)
  const values = {} as Record<MadeName, string>
  const fresh: MadeName[] = []
  const previousSealingKey = readVariable(environment, 'SEALING_KEY_PREVIOUS')
  for (const name of madeNames) {
    const given = readVariable(environment, name)
    if (name === 'SEALING_KEY' && given !== undefined && kept[name] === previousSealingKey) delete kept[name] // it is being rotated
    const before = kept[name]
    if (given !== undefined && before !== undefined && given !== before) {
      throw new SecretFault(
        `${name} of the environment is not the one in ${file}, with which this stack was served before. Unset the variable to keep that one, or remove its line from the file to use the variable's`,
      )
    }
    if (given === undefined && before === undefined) fresh.push(name)
    values[name] = given ?? before ?? made[name]()
  }
  checkForms(values)
  const write = () => writeWhole(file, `${JSON.stringify(kept, undefined, 2)}\n`, 0o600)
  return {
    ...{ values, fresh, previousSealingKey },
    save() {
      if (fresh.length === 0) return
      for (const name of fresh) kept[name] = values[name]
      write()
    },
    adoptServiceRoleKey(key) {
      if (kept.SERVICE_ROLE_KEY === undefined || kept.SERVICE_ROLE_KEY === key) return
      kept.SERVICE_ROLE_KEY = key
      write()
    },
  }
}

function checkForms(values: Record<MadeName, string>): void {
  for (const name of ['PASSWORD_PEPPER', 'REFRESH_KEY'] as const) {
    if (!/^[A-Za-z0-9_-]{43}$/.test(values[name]))
      throw new SecretFault(`${name} must be 32 bytes in base64url: \`openssl rand 32 | basenc --base64url | tr -d =\``)
  }
  for (const name of ['SEALING_KEY', 'CLAIMS_KEY', 'SERVICE_ROLE_KEY', 'DATABASE_LOGIN_KEY'] as const) {
    if (values[name].length < shortestSecret)
      throw new SecretFault(`${name} must have ${shortestSecret} characters or more`)
  }
}

/** Fewest characters of a secret: 32 characters of hexadecimal have 128 bits. */
const shortestSecret = 32

function readKept(file: string): Partial<Record<MadeName, string>> {
  if (!fs.existsSync(file)) return {}
  let kept: unknown
  try {
    kept = JSON.parse(fs.readFileSync(file, 'utf8'))
  } catch {
    throw new SecretFault(
      `${file} holds no JSON: restore it from a backup. New secrets could not open what the database keeps`,
    )
  }
  const isTexts =
    typeof kept === 'object' && kept !== null && Object.values(kept).every((one) => typeof one === 'string')
  if (!isTexts) throw new SecretFault(`${file} does not hold the secrets of a stack: restore it from a backup`)
  if ((fs.statSync(file).mode & 0o077) !== 0) fs.chmodSync(file, 0o600)
  return kept as Partial<Record<MadeName, string>>
}
