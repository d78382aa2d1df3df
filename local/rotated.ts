/** The newest service-role key of the stack: after a rotation, `keys.json` and the commands on this machine go on with it (contract 9.15). */
import * as fs from 'node:fs'
import type pg from 'pg'
import { writeWhole } from '../build/emit/write.ts'
import { openWith } from '../src/wire/sealing.ts'
import { rotationLine, serviceRoleKeyPlace } from '../src/wire/secrets.ts'
import { connect } from './database.ts'
import type { Keys } from './keys.ts'

/**
 * Reads the key that the last rotation has made, and writes it to `keys` and to their file.
 *
 * @param databaseUrl of the owner. @returns whether the key is another one. @throws Error where it cannot be opened.
 */
export async function adoptServiceRoleKey(databaseUrl: string, keys: Keys, file: string): Promise<boolean> {
  const secrets = [keys.sealing_key, keys.sealing_key_previous].filter((secret) => secret !== undefined)
  const key = await newestServiceRoleKey(databaseUrl, secrets).catch((error: Error) => {
    throw new Error(`${error.message}: restore the sealing key of ${file}`)
  })
  if (key === undefined || key === keys.service_role_key) return false
  keys.service_role_key = key
  // read again: a person may have edited the other keys meanwhile
  const written = { ...(JSON.parse(fs.readFileSync(file, 'utf8')) as Keys), service_role_key: key }
  writeWhole(file, `${JSON.stringify(written, undefined, 2)}\n`, 0o600)
  return true
}

/**
 * Reads the key that the last rotation has made.
 *
 * @param database the URL of the owner, or the driver's settings. @param sealingKeys the present one and the one before.
 * @returns `undefined` where no key was rotated. @throws Error where it cannot be opened.
 */
export async function newestServiceRoleKey(
  database: string | pg.ClientConfig,
  sealingKeys: readonly string[],
): Promise<string | undefined> {
  const newest = await newestKey(database)
  if (!newest) return undefined
  return openWith(sealingKeys, newest.sealed, serviceRoleKeyPlace(newest.id)).catch(() => {
    throw new Error(`the service-role key ${newest.id} does not open`)
  })
}

/** @returns whether a line of the log says that the auth worker has rotated the key. */
export function tellsOfRotation(line: string): boolean {
  if (!line.includes(rotationLine)) return false
  try {
    const { worker, message } = JSON.parse(line) as Record<string, unknown>
    return worker === 'auth' && message === rotationLine
  } catch {
    return false // a line of the project's own
  }
}

/** Reads as auth_admin: it owns the table, and could have put a view with code in its place. */
async function newestKey(database: string | pg.ClientConfig): Promise<{ id: string; sealed: string } | undefined> {
  const client = await connect(database)
  try {
    await client.query('begin read only')
    await client.query('set local role auth_admin')
    const { rows } = await client.query(
      'select id, sealed from auth.service_role_keys where sealed is not null order by position desc limit 1',
    )
    await client.query('rollback')
    return rows[0]
  } finally {
    await client.end().catch(() => {})
  }
}
