/**
 * The database of a deployed stack: an external Postgres of version 16 or newer, by the URL of its owner, who needs no superuser
 * rights but CREATEROLE and the database itself.
 */
import { hkdfSync } from 'node:crypto'
import type pg from 'pg'
import { type OpenMigrations, openMigrations, pendingMigrations, setsOf } from '../local/migrate.ts'
import {
  connectOwner,
  type LoginPasswords,
  ownerConfig,
  ownerUrl,
  type WorkerUrls,
  workerUrls,
} from './postgres/connection.ts'
import { installStackKeys, requireSameKeys, type StackKeys } from './postgres/login-keys.ts'
import { coverageGaps, requireRights } from './postgres/rights.ts'
import { addServicePolicies, withoutBypass } from './postgres/service-policies.ts'

export interface DatabaseOptions {
  /** URL of the owner. */
  url: string
  /** Certificates in PEM form that are trusted beside those of Node. Default: none. */
  ca?: string | undefined
  /** Absolute path of the project. */
  root: string
}

/** A database whose pending migrations ran in a transaction that is still open. */
export interface PreparedDatabase {
  /** Names of the files that ran now, in their order. */
  applied: readonly string[]
  /**
   * Commits the migrations, then gives the logins their passwords and the database its claims key.
   * @returns a sentence for each protection that this database lacks.
   */
  commit(): Promise<string[]>
  /** Does nothing after a commit. */
  rollback(): Promise<void>
}

/**
 * Connects as the owner, checks version, rights and keys, and runs the pending migrations of the auth module, the runtime and
 * the project under the advisory lock (contract 5.5). Nothing of it is seen by others before `commit`.
 *
 * @throws UrlFault, DatabaseUnreachable, RightsMissing, KeysDiffer, or an Error that names the file of a migration.
 */
export async function prepareDatabase(options: DatabaseOptions, keys: StackKeys): Promise<PreparedDatabase> {
  const config = configOf(options)
  await withOwner(config, async (client) => {
    await requireRights(client)
    await requireSameKeys(client, keys)
  })
  const migrations: OpenMigrations = await openMigrations(config, setsOf(options.root), {
    adapt: withoutBypass,
    finish: addServicePolicies,
  })
  return {
    applied: migrations.applied,
    async commit() {
      await migrations.commit()
      const keepsVerifiers = await installStackKeys(config, keys)
      const gaps = await withOwner(config, coverageGaps)
      return keepsVerifiers ? gaps : [...gaps, withoutRepair]
    },
    rollback: migrations.rollback,
  }
}

const withoutRepair =
  'this server takes clear-text passwords alone: a login that SQL in a handler has locked out is restored by the next start or push, not by auth.repair_logins()'

/** Lists the pending migrations for a dry run, and changes nothing. @throws as `prepareDatabase` does. */
export async function pendingOf(options: DatabaseOptions): Promise<string[]> {
  const config = configOf(options)
  await withOwner(config, requireRights)
  return pendingMigrations(config, setsOf(options.root))
}

/** The URLs for the bindings of the workers. @throws UrlFault */
export function urlsOf(url: string, passwords: LoginPasswords): WorkerUrls {
  return workerUrls(ownerUrl(url), passwords)
}

/** The passwords of the logins that follow from one key: machines that share the key agree about them. @param key any long random text. */
export function loginPasswords(key: string): LoginPasswords {
  const derived = (login: string) =>
    Buffer.from(hkdfSync('sha256', key, Buffer.alloc(32), `stack login ${login}`, 32)).toString('base64url')
  return {
    stack_backend: derived('stack_backend'),
    stack_backend_service: derived('stack_backend_service'),
    stack_auth: derived('stack_auth'),
  }
}

/** The driver's settings for the owner. @throws UrlFault */
export function configOf({ url, ca }: Pick<DatabaseOptions, 'url' | 'ca'>): pg.ClientConfig {
  return ownerConfig(ownerUrl(url), ca)
}

/** Runs the work on a connection of its own. @throws DatabaseUnreachable, or as the work does. */
export async function withOwner<T>(config: pg.ClientConfig, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectOwner(config)
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}
