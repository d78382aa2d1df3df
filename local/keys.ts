/** `.stack/keys.json`: the keys that outlive a start (contract 1.3). Made once, and readable by its owner alone. */
import { hkdfSync, randomBytes, randomInt } from 'node:crypto'
import * as fs from 'node:fs'
import { writeWhole } from '../build/emit/write.ts'

export interface Keys {
  /** Eight of `[a-z0-9]`, then `m` (contract 1.4). */
  ref: string
  sealing_key: string
  /** The sealing key before the present one, until everything is sealed anew. The person writes it (contract 9.15). */
  sealing_key_previous?: string
  /** Mixed into every password before it is hashed: 32 bytes, base64url (contract 9.15). */
  password_pepper: string
  /** Authenticates refresh tokens: 32 bytes, base64url. */
  refresh_key: string
  claims_key: string
  service_role_key: string
  publishable_key: string
  /** Passwords of the database's superuser and of each login role. */
  passwords: { postgres: string; stack_backend: string; stack_backend_service: string; stack_auth: string }
}

/** @throws Error for a file that exists and is not valid: new keys could not open the existing data. */
export function keysAt(file: string): Keys {
  if (fs.existsSync(file)) {
    const keys = read(file)
    if (!keys) throw new Error(`${file} does not hold this stack's keys: restore it, or start afresh with --fresh`)
    // derived keys are written down, because they must not change with the sealing key
    if (!fs.readFileSync(file, 'utf8').includes('"password_pepper"')) write(file, keys)
    return keys
  }
  const keys = mintKeys()
  write(file, keys)
  return keys
}

function write(file: string, keys: Keys): void {
  writeWhole(file, `${JSON.stringify(keys, undefined, 2)}\n`, 0o600)
}

function read(file: string): Keys | undefined {
  let found: Partial<Keys> | null
  try {
    found = withDerivedKeys(JSON.parse(fs.readFileSync(file, 'utf8')) as Partial<Keys> | null)
  } catch {
    return undefined
  }
  const isWhole = Object.entries(mintKeys()).every(
    ([name, value]) => typeof found?.[name as keyof Keys] === typeof value,
  )
  const hasPasswords = Object.keys(mintKeys().passwords).every(
    (login) => typeof found?.passwords?.[login as keyof Keys['passwords']] === 'string',
  )
  return isWhole && hasPasswords ? (found as Keys) : undefined
}

/** Files of version 0.1 have no keys of their own for passwords and refresh tokens: these were derived from the sealing key. */
function withDerivedKeys(found: Partial<Keys> | null): Partial<Keys> | null {
  const { sealing_key } = found ?? {}
  if (typeof sealing_key !== 'string') return found
  const derived = (purpose: string) =>
    Buffer.from(hkdfSync('sha256', sealing_key, Buffer.alloc(32), `stack ${purpose}`, 32)).toString('base64url')
  return { password_pepper: derived('password pepper'), refresh_key: derived('refresh tokens'), ...found }
}

/** New keys of a stack. */
export function mintKeys(): Keys {
  const secret = () => randomBytes(32).toString('base64url')
  const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'
  return {
    ref: `${Array.from({ length: 8 }, () => alphabet[randomInt(alphabet.length)]).join('')}m`,
    sealing_key: secret(),
    password_pepper: secret(),
    refresh_key: secret(),
    claims_key: secret(),
    service_role_key: `srk_${secret()}`,
    publishable_key: `pub_${randomBytes(16).toString('base64url')}`,
    passwords: { postgres: secret(), stack_backend: secret(), stack_backend_service: secret(), stack_auth: secret() },
  }
}
