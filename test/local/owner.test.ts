/** The schema under an owner that is no superuser, as in hosted databases: the guards that hold and those that do not (5.7). */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installKeys } from '../../local/logins.ts'
import { migrate, setsOf } from '../../local/migrate.ts'
import { type Postgres, startPostgres } from '../../local/postgres.ts'

const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-owner-'))
const password = 'owner-password'
const logins = ['stack_backend', 'stack_backend_service', 'stack_auth']
let postgres: Postgres

const urlOf = (user: string, secret = password, database = 'hosted') =>
  `postgresql://${user}:${secret}@127.0.0.1:${postgres.port}/${database}`

async function query<T = Record<string, unknown>>(url: string, text: string, notices: string[] = []): Promise<T[]> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  client.on('notice', ({ message }) => notices.push(message ?? ''))
  await client.connect()
  try {
    const result = await client.query(text)
    return (Array.isArray(result) ? result.at(-1) : result).rows
  } finally {
    await client.end()
  }
}

beforeAll(async () => {
  postgres = await startPostgres({ directory, password })
  const superuser = urlOf('postgres', password, 'postgres')
  // Hosts give the first role of a project these rights.
  await query(superuser, `create role owner login createrole createdb bypassrls password '${password}'`)
  await query(superuser, 'create database hosted owner owner')
  await query(urlOf('postgres'), 'grant all on schema public to owner')
  await migrate(urlOf('owner'), setsOf(directory))
  await installKeys(urlOf('owner'), {
    claimsKey: 'claims',
    passwords: Object.fromEntries(logins.map((login) => [login, `${login}-password`])),
  })
}, 120_000)

afterAll(async () => {
  await postgres?.stop()
  fs.rmSync(directory, { recursive: true, force: true })
})

describe('an owner that is no superuser', () => {
  it.each(logins)('5.1 %s logs in, inherits nothing, and becomes its one role', async (login) => {
    const url = urlOf(login, `${login}-password`)
    const roles = await query<{ rolname: string }>(
      url,
      `select rolname from pg_roles where pg_has_role(oid, 'set') and rolname <> current_user order by 1`,
    )
    expect(roles).toHaveLength(1)
    await expect(query(url, 'select * from auth.users')).rejects.toThrow('permission denied')
  })

  it('5.7 has logins repaired: the password, and the defaults', async () => {
    const own = urlOf('stack_backend', 'stack_backend-password')
    await query(own, `alter role stack_backend set local_preload_libraries = 'nowhere'`)
    await expect(query(own, 'select 1')).rejects.toThrow('nowhere')
    await query(urlOf('stack_auth', 'stack_auth-password'), 'set role auth_admin; select auth.repair_logins()')
    expect(await query(own, 'select 1 as one')).toEqual([{ one: 1 }])
    await query(own, `alter role stack_backend password 'another'`)
    await expect(query(own, 'select 1')).rejects.toThrow('password authentication failed')
    await query(urlOf('stack_auth', 'stack_auth-password'), 'set role auth_admin; select auth.repair_logins()')
    expect(await query(own, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  it('5.7 keeps the verifiers where auth_admin, who owns the schema auth, cannot put others in their place', async () => {
    const auth = urlOf('stack_auth', 'stack_auth-password')
    for (const text of [
      'drop table stack.login_verifiers',
      'alter table stack.login_verifiers rename to gone',
      'table stack.login_verifiers',
      `insert into stack.login_verifiers values ('postgres', 'SCRAM-SHA-256$x')`,
      'create table stack.mine ()',
      'create trigger mine before insert on stack.login_verifiers execute function auth.keep_ended_session()',
    ]) {
      await expect(query(auth, `set role auth_admin; ${text}`)).rejects.toThrow(/permission denied|must be owner/)
    }
    // Installing keys must not run a trigger of auth_admin with the rights of the owner.
    const plant = `set role auth_admin;
      create function auth.mine() returns trigger language plpgsql as $$ begin
        raise exception 'ran as %', current_user; end $$;
      create trigger mine before insert or update on auth.claims_keys for each row execute function auth.mine()`
    await query(auth, plant)
    await expect(installKeys(urlOf('owner'), { claimsKey: 'other', passwords: {} })).rejects.toThrow(
      'ran as auth_admin',
    )
    await query(auth, 'set role auth_admin; drop function auth.mine() cascade')
  })

  it('5.7 may not revoke what lets a login disturb another session: a notice of the migration names it', async () => {
    const open = await query<{ name: string }>(
      urlOf('owner'),
      `select proname as name from pg_proc where pronamespace = 'pg_catalog'::regnamespace
         and proname in ('pg_terminate_backend', 'pg_cancel_backend', 'pg_stat_get_activity')
         and has_function_privilege('backend_authenticated', oid, 'execute') order by 1`,
    )
    expect(open.map(({ name }) => name)).toEqual(['pg_cancel_backend', 'pg_stat_get_activity', 'pg_terminate_backend'])
    const file = fs.readFileSync(path.resolve(import.meta.dirname, '../../src/auth/migrations/0007_logins.sql'), 'utf8')
    const [block] = /do \$\$[\s\S]*?end \$\$;/.exec(file)!
    const notices: string[] = []
    await query(urlOf('owner'), block, notices)
    expect(notices.at(-1)).toMatch(/may still execute .*pg_terminate_backend.*: only a superuser may revoke that$/)
  })

  it('5.7 and with a superuser for its owner, nothing of it stays open', async () => {
    const file = fs.readFileSync(path.resolve(import.meta.dirname, '../../src/auth/migrations/0007_logins.sql'), 'utf8')
    const [block] = /do \$\$[\s\S]*?end \$\$;/.exec(file)!
    const notices: string[] = []
    await query(urlOf('postgres'), block, notices)
    expect(notices).toEqual([])
    const own = urlOf('stack_backend', 'stack_backend-password')
    for (const text of ['select pg_terminate_backend(1)', 'select pg_cancel_backend(1)', 'table pg_stat_activity']) {
      await expect(query(own, text)).rejects.toThrow('permission denied for function')
    }
  })
})
