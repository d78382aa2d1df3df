/** `.stack/local.json`: the record of a local stack that runs (contract 1.5). A record whose process is gone is never used. */
import * as fs from 'node:fs'
import { writeWhole } from '../build/emit/write.ts'
import { settings } from '../src/wire/operations.ts'
import { isAlive } from './processes.ts'

export interface LocalRecord {
  pid: number
  /** RFC 3339, UTC. */
  started_at: string
  project: string
  ref: string
  base_url: string
  /** The page with the messages that the stack has sent. */
  dashboard_url: string
  publishable_key: string
  service_role_key: string
  /** Logs in as the owner of the database. */
  database_url: string
  backend_database_url: string
  backend_service_database_url: string
}

/** @returns the record and whether its stack still runs, or `undefined` for a record that is missing or not valid. */
export async function readRecord(file: string): Promise<{ record: LocalRecord; isLive: boolean } | undefined> {
  let record: LocalRecord
  try {
    record = JSON.parse(fs.readFileSync(file, 'utf8')) as LocalRecord
    if (typeof record?.pid !== 'number' || typeof record.base_url !== 'string') return undefined
  } catch {
    return undefined
  }
  return { record, isLive: isAlive(record.pid) && (await answers(record)) }
}

export function writeRecord(file: string, record: LocalRecord): void {
  writeWhole(file, `${JSON.stringify(record, undefined, 2)}\n`, 0o600)
}

/** By now the process id may belong to another process, and the port to another stack. Only this stack accepts this key. */
async function answers({ base_url, service_role_key }: LocalRecord): Promise<boolean> {
  try {
    const response = await fetch(`${base_url}${settings.read.path}`, {
      headers: { apikey: service_role_key },
      signal: AbortSignal.timeout(2000),
    })
    await response.arrayBuffer()
    return response.status !== 401 && response.headers.has('x-request-id') // a 500 is an answer of this stack too
  } catch {
    return false
  }
}
