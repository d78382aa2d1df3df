/**
 * The keys of an environment, in a file of the person who deploys it: `<ref>.json`, mode 0600, beside the file of credentials.
 * Cloudflare never gives a secret back, so this file is the only copy that can be read. A push works without it, too: what the
 * workers have stays.
 */
import { createHash, randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { writeWhole } from '../../build/emit/write.ts'
import { PushFault } from './fault.ts'

/** Each key is text of at least 256 random bits. */
export interface EnvironmentKeys {
  /** The passwords of the three logins follow from it (contract 5.1). */
  logins?: string
  /** HMAC key of the claims (contract 5.3). */
  claims?: string
  service_role?: string
  /** Seals what is stored (contract 9.15). */
  sealing?: string
  /** Mixed into every password before it is hashed: 32 bytes, base64url. */
  pepper?: string
  /** Authenticates refresh tokens: 32 bytes, base64url. */
  refresh?: string
}

export type KeyName = keyof EnvironmentKeys

/** All keys, and what is lost with each. */
export const keyNames = [
  'logins',
  'claims',
  'service_role',
  'sealing',
  'pepper',
  'refresh',
] as const satisfies readonly KeyName[]

export interface KeyFile {
  /** `project/environment`, for the person who reads the file. */
  stack: string
  url: string
  keys: EnvironmentKeys
  /** Keys that were minted for a push that has not ended: the workers may not have them yet. */
  pending: KeyName[]
}

/** @returns `undefined` where there is no file. @throws PushFault for a file that exists and is not valid. */
export function readKeyFile(file: string): KeyFile | undefined {
  let text: string
  try {
    text = fs.readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new PushFault('usage', `${file} cannot be read: ${(error as Error).message}`)
  }
  try {
    const found = JSON.parse(text) as KeyFile
    const values = Object.entries(found.keys)
    const isSound = values.every(([name, value]) => isKeyName(name) && typeof value === 'string' && value.length >= 32)
    if (isSound && found.pending.every(isKeyName)) return found
  } catch {
    // the fault below says the same of text that is no JSON
  }
  throw new PushFault(
    'usage',
    `${file} does not hold the keys of this stack: restore it from a copy, or move it away to push without it`,
  )
}

function isKeyName(name: string): name is KeyName {
  return (keyNames as readonly string[]).includes(name)
}

export function writeKeyFile(file: string, keys: KeyFile): void {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  writeWhole(file, `${JSON.stringify(keys, undefined, 2)}\n`, 0o600)
}

export function mintKey(name: KeyName): string {
  const random = randomBytes(32).toString('base64url')
  return name === 'service_role' ? `srk_${random}` : random
}

/** Length of a mark in hexadecimal digits: 64 bits tell keys apart, and lead back to none of 256 random bits. */
const markLength = 16

/** Names a key without giving it away. A worker's variables hold the marks of its keys, because secrets cannot be read back. */
export function markOf(key: string): string {
  return createHash('sha256').update(`stack key ${key}`).digest('hex').slice(0, markLength)
}
