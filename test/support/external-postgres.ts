/** A second Postgres cluster, like one that another party runs: its databases have owners that are no superusers. */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { type Postgres, startPostgres } from '../../local/postgres.ts'

export interface ExternalPostgres {
  readonly port: number
  /** Runs SQL as the superuser. */
  sql<T = Record<string, unknown>>(text: string, database?: string): Promise<T[]>
}

const password = 'external-superuser'

/** Starts the cluster before the file's tests, and ends it after them. */
export function useExternalPostgres(): ExternalPostgres {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-external-'))
  let postgres: Postgres
  beforeAll(async () => {
    postgres = await startPostgres({ directory, password })
  })
  afterAll(async () => {
    await postgres?.stop()
    fs.rmSync(directory, { recursive: true, force: true })
  })
  return {
    get port() {
      return postgres.port
    },
    async sql(text, database = 'postgres') {
      const client = new pg.Client(`postgresql://postgres:${password}@127.0.0.1:${postgres.port}/${database}`)
      client.on('error', () => {})
      await client.connect()
      try {
        return (await client.query(text)).rows
      } finally {
        await client.end()
      }
    },
  }
}

/**
 * Makes an empty database and its owner.
 * @param attributes of the owner, like those that a provider gives.
 * @returns the URL of the owner.
 */
export async function createOwned(external: ExternalPostgres, attributes = 'createrole'): Promise<string> {
  const name = `app_${crypto.randomUUID().replaceAll('-', '').slice(0, 12)}`
  await external.sql(`create role ${name}_owner login password 'owner-secret' ${attributes}`)
  await external.sql(`create database ${name} owner ${name}_owner`)
  return `postgresql://${name}_owner:owner-secret@127.0.0.1:${external.port}/${name}`
}

/** Removes the database of an owner, and the roles of its stack, which belong to the whole cluster. */
export async function dropOwned(external: ExternalPostgres, url: string): Promise<void> {
  await external.sql(`drop database if exists ${new URL(url).pathname.slice(1)} with (force)`)
  for (const role of [
    ...['stack_backend', 'stack_backend_service', 'stack_auth'],
    ...['backend_authenticated', 'backend_service_role', 'auth_admin', new URL(url).username],
  ]) {
    await external.sql(`drop role if exists ${role}`)
  }
}
