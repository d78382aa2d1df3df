/**
 * The file of credentials, `$XDG_CONFIG_HOME/stack/credentials.json`: one for each stack, by its ref (contract 10.4). Only its
 * owner may read it.
 */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { writeWhole } from '../../build/emit/write.ts'
import { Failure } from './failure.ts'

export type StoredCredential = { service_role_key: string } | { access_token: string }

/** @returns the absolute path of the file. */
export function credentialsFile(): string {
  const configured = process.env['XDG_CONFIG_HOME']
  // The XDG base directory specification: a relative path is invalid, and is ignored.
  const base = configured && path.isAbsolute(configured) ? configured : path.join(os.homedir(), '.config')
  return path.join(base, 'stack/credentials.json')
}

/** @throws Failure for a file that exists and is not valid: writing it anew would lose the other credentials. */
export function readCredentials(): Record<string, StoredCredential> {
  const file = credentialsFile()
  let text: string
  try {
    text = fs.readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new Failure('usage', `${file} cannot be read: ${(error as Error).message}`)
  }
  if (process.platform !== 'win32' && (fs.statSync(file).mode & 0o077) !== 0)
    process.stderr.write(`other users of this machine may read ${file}: chmod 600 keeps it private\n`)
  try {
    const found = JSON.parse(text) as Record<string, StoredCredential>
    if (typeof found === 'object' && found !== null && !Array.isArray(found)) return found
  } catch {
    // the failure below says the same of text that is no JSON
  }
  throw new Failure('usage', `${file} is not valid JSON: repair it, or remove it and log in again`)
}

/** @param credential `undefined` removes the one of the ref. */
export function storeCredential(ref: string, credential: StoredCredential | undefined): void {
  const { [ref]: _previous, ...others } = readCredentials()
  const file = credentialsFile()
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  writeWhole(file, `${JSON.stringify(credential ? { ...others, [ref]: credential } : others, undefined, 2)}\n`, 0o600)
}
