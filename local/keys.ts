/** `.stack/keys.json`: what must outlive a start (contract 1.3). Made once, readable by its owner alone. */
import { randomBytes, randomInt } from 'node:crypto'
import * as fs from 'node:fs'
import { writeWhole } from '../build/emit/write.ts'

export interface Keys {
  /** Eight of `[a-z0-9]`, then `m` (contract 1.4). */
  ref: string
  sealing_key: string
  claims_key: string
  service_role_key: string
  publishable_key: string
  /** Of the database's superuser and of each login role. */
  passwords: { postgres: string; stack_backend: string; stack_backend_service: string; stack_auth: string }
}

/** @throws Error naming the file when it is there and cannot be read: making new keys would lock the data away. */
export function keysAt(file: string): Keys {
  if (fs.existsSync(file)) {
    try {
      return JSON.parse(fs.readFileSync(file, 'utf8')) as Keys
    } catch (error) {
      throw new Error(`${file} cannot be read (${(error as Error).message}); restore it, or start afresh with --fresh`)
    }
  }
  const keys = mint()
  writeWhole(file, `${JSON.stringify(keys, undefined, 2)}\n`, 0o600)
  return keys
}

function mint(): Keys {
  const secret = () => randomBytes(32).toString('base64url')
  const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'
  return {
    ref: `${Array.from({ length: 8 }, () => alphabet[randomInt(alphabet.length)]).join('')}m`,
    sealing_key: secret(),
    claims_key: secret(),
    service_role_key: `srk_${secret()}`,
    publishable_key: `pub_${randomBytes(16).toString('base64url')}`,
    passwords: { postgres: secret(), stack_backend: secret(), stack_backend_service: secret(), stack_auth: secret() },
  }
}
