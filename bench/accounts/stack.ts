/** A local stack with many accounts, whose limits are raised in its settings. */
import { randomUUID } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { findPort } from '../../local/ports.ts'
import { processes } from '../../local/processes.ts'
import { startStack } from '../../local/start.ts'
import { limitsDefaults } from '../../src/wire/settings.ts'
import { writeProject } from '../availability/project.ts'
import { request } from '../requests/asking.ts'
import { cpuMs, reportsCpu } from '../usage.ts'

/** The password of every account, here and with the peers. */
export const password = 'correct horse battery'

/** The largest limit that the settings take, in attempts a second: no request of the bench reaches it. */
const raised = { attempts: 10_000, seconds: 1 }

export interface AccountsStack {
  url: string
  port: number
  /** The process id of workerd, which runs both workers. */
  pid: number
  /** Parameters of the hash that the stack has made of the password. */
  cost: { memorySize: number; passes: number; parallelism: number }
  /** CPU time of Postgres so far, in milliseconds, without connections that have been closed. 0 where the system does not report it. */
  databaseCpuMs(): number
  /** Makes accounts with the password, as fast as rows are written. @returns their addresses. */
  people(count: number, state: 'confirmed' | 'unconfirmed' | 'disabled'): Promise<string[]>
  /** Makes an empty database on the same server, for a peer. @returns its URL. */
  database(name: string): Promise<string>
  stop(): Promise<void>
}

/**
 * A POST of JSON as the bytes that are sent. Limits by network count no loopback address, so the request names another one, as the
 * local stack allows. @param host the last part of an IPv4 address that is reserved for documentation (RFC 5737).
 */
export function post(path: string, body: object, host = 1): Buffer[] {
  const [sent] = request('POST', path, undefined, JSON.stringify(body))
  return [Buffer.from(sent!.toString().replace('\r\n', `\r\ncf-connecting-ip: 198.51.100.${host}\r\n`))]
}

export const newAddress = () => `${randomUUID()}@example.com`

/** @param folder an empty folder. */
export async function startAccountsStack(folder: string): Promise<AccountsStack> {
  const root = path.join(folder, 'project')
  fs.mkdirSync(root)
  const given = {
    root,
    project: writeProject(root),
    roles: [],
    templates: [],
    variables: {},
    fresh: false,
    say: () => {},
    onLog: () => {},
  }
  const stack = await startStack({ ...given, port: await findPort() }, new AbortController().signal)
  const { base_url: url, service_role_key: apikey, database_url: owner } = stack.record
  // Postgres is in a process group of its own, which Ctrl-C in a terminal does not reach.
  const interrupted = () => void stack.stop().finally(() => process.exit(130))
  process.once('SIGINT', interrupted)
  const client = new pg.Client(owner)
  try {
    await client.connect()
    const rate_limits = Object.fromEntries(Object.keys(limitsDefaults).map((name) => [name, raised]))
    await send('PUT', `${url}/v1/management/auth/settings`, { rate_limits, confirm_email_required: true }, { apikey })
    await send('POST', `${url}/auth/sign-up`, { email: newAddress(), password })
    const { rows } = await client.query('select phc from auth.password_credentials')
    const { phc } = rows[0] as { phc: string }
    const [memorySize, passes, parallelism] = /m=(\d+),t=(\d+),p=(\d+)/.exec(phc)!.slice(1).map(Number)
    return {
      url,
      port: Number(new URL(url).port),
      pid: processes().find(({ parent, command }) => parent === process.pid && /\bworkerd\b/.test(command))!.pid,
      cost: { memorySize: memorySize!, passes: passes!, parallelism: parallelism! },
      databaseCpuMs: () => (reportsCpu ? postgresPids().reduce((sum, pid) => sum + cpuOf(pid), 0) : 0),
      async people(count, state) {
        const emails = Array.from({ length: count }, newAddress)
        await client.query(people, [emails, state, phc])
        return emails
      },
      async database(name) {
        await client.query(`create database ${client.escapeIdentifier(name)}`)
        return Object.assign(new URL(owner), { pathname: name }).href
      },
      async stop() {
        process.off('SIGINT', interrupted)
        await client.end()
        await stack.stop()
      },
    }
  } catch (error) {
    await client.end().catch(() => {})
    await stack.stop()
    throw error
  }
}

/** The server of this process and its processes for connections. The server may run below another program, which made it unprivileged. */
function postgresPids(): number[] {
  const all = processes()
  const isOwn = (pid: number): boolean => {
    const found = all.find((one) => one.pid === pid)
    return found !== undefined && (found.parent === process.pid || isOwn(found.parent))
  }
  return all.filter(({ pid, command }) => /^(?:\S*\/)?postgres[: ]/.test(command) && isOwn(pid)).map(({ pid }) => pid)
}

function cpuOf(pid: number): number {
  try {
    return cpuMs(pid)
  } catch {
    return 0 // the connection was closed meanwhile
  }
}

/** A hash is of a password and its salt, and does not name the account: all of them may share one. */
const people = `with person as (
  insert into auth.users (id, email, email_confirmed_at, disabled_at)
    select 'usr_' || replace(gen_random_uuid()::text, '-', ''), email, case when $2 <> 'unconfirmed' then now() end,
      case when $2 = 'disabled' then now() end from unnest($1::text[]) as email
    returning id)
insert into auth.password_credentials (user_id, phc) select id, $3 from person`

/** @returns the body. @throws Error for an answer that is no success. */
export async function send<T>(
  method: string,
  url: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<T> {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status} ${await response.text()}`)
  return (await response.json()) as T
}
