/** The database of a deployed stack: an external Postgres whose owner is no superuser (contract 5.1, 5.5, 5.7). */
import * as fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import { loginPasswords, pendingOf, prepareDatabase, urlsOf } from '../../deploy/database.ts'
import { createOwned, dropOwned, useExternalPostgres } from '../support/external-postgres.ts'
import { temporaryProject } from '../support/project.ts'

const external = useExternalPostgres()
const keys = { passwords: loginPasswords('login-key'), claimsKey: 'claims-key', replace: false }
const notes = `create table notes (id int primary key, owner text);
  alter table notes enable row level security;
  create policy own on notes to backend_authenticated using (owner = (select auth.uid()));
  grant select on notes to backend_authenticated;
  insert into notes values (1, 'usr_a');`
let url = ''
afterEach(() => dropOwned(external, url))

async function database(attributes?: string, sql = notes) {
  url = await createOwned(external, attributes)
  const root = temporaryProject({ 'migrations/0001_notes.sql': sql })
  return { url, root }
}

async function install(attributes?: string, sql?: string) {
  const options = await database(attributes, sql)
  const prepared = await prepareDatabase(options, keys)
  return { options, prepared, gaps: await prepared.commit() }
}

async function query<T = Record<string, unknown>>(at: string, text: string): Promise<T[]> {
  const client = new pg.Client(at.replace(/[?&]sslmode=[\w-]+/, ''))
  client.on('error', () => {})
  await client.connect()
  try {
    return ((await client.query(text)) as unknown as pg.QueryResult[]).at?.(-1)?.rows as T[]
  } finally {
    await client.end()
  }
}
const failure = (work: Promise<unknown>) =>
  work.then(() => '').catch((error: Error) => `${error.name}: ${error.message}`)

describe('an owner with CREATEROLE and BYPASSRLS', () => {
  it('migrates, and names what only a superuser may revoke', async () => {
    const { prepared, gaps } = await install('createrole bypassrls')
    expect(prepared.applied).toContain('0001_database_roles.sql')
    expect(prepared.applied.at(-1)).toBe('0001_notes.sql')
    expect(gaps.map((gap) => gap.split(',')[0])).toEqual([
      'SQL in a handler may end',
      'SQL in a handler may make large objects',
    ])
    expect(await external.sql(`select rolbypassrls from pg_roles where rolname = 'backend_service_role'`)).toEqual([
      { rolbypassrls: true },
    ])
  })

  it('a superuser leaves no gap', async () => {
    expect((await install('superuser')).gaps).toEqual([])
  })
})

describe('an owner without BYPASSRLS', () => {
  it('gives the service role a policy in its place', async () => {
    const { gaps } = await install()
    expect(gaps[0]).toContain('stack_service')
    const { backendService, backend } = urlsOf(url, keys.passwords)
    expect(await query(backendService, 'set role backend_service_role; select id from notes')).toEqual([{ id: 1 }])
    expect(
      await query(backendService, 'set role backend_service_role; select count(*)::int as n from auth.users'),
    ).toEqual([{ n: 0 }])
    expect(await query(backend, 'set role backend_authenticated; select id from notes')).toEqual([])
  })

  it('refuses a restrictive policy that binds the service role', async () => {
    const options = await database('createrole', `${notes} create policy fence on notes as restrictive using (false);`)
    expect(await failure(prepareDatabase(options, keys))).toContain('fence on public.notes')
    expect(await pendingOf(options)).toContain('0001_notes.sql')
  })

  it('accepts one for users alone', async () => {
    const restrictive = `${notes} create policy fence on notes as restrictive to backend_authenticated using (false);`
    expect((await install('createrole', restrictive)).gaps[0]).toContain('stack_service')
  })
})

describe('rights', () => {
  it('names all that is missing', async () => {
    const options = await database('nocreaterole')
    const owner = new URL(url).username
    await external.sql(`alter database ${new URL(url).pathname.slice(1)} owner to postgres`)
    const message = await failure(prepareDatabase(options, keys))
    expect(message).toContain('RightsMissing: this database cannot hold the stack. Nothing was changed')
    expect(message).toContain(`${owner} may not make roles`)
    expect(message).toContain(`${owner} does not own the database`)
  })

  it('refuses a second stack on one server', async () => {
    const { options } = await install()
    const first = url
    const second = await createOwned(external)
    const message = await failure(prepareDatabase({ ...options, url: second }, keys))
    expect(message).toContain(`the database ${new URL(first).pathname.slice(1)} of this server holds another stack`)
    await dropOwned(external, first).catch(() => {})
    url = second
  })
})

describe('migrations', () => {
  it('lists what is pending, and changes nothing', async () => {
    const options = await database()
    expect((await pendingOf(options)).at(-1)).toBe('0001_notes.sql')
    expect(await query(url, `select 1; select to_regnamespace('stack') as made`)).toEqual([{ made: null }])
  })

  it('are unseen before the commit, and gone after a rollback', async () => {
    const options = await database()
    const prepared = await prepareDatabase(options, keys)
    await prepared.rollback()
    expect(await query(url, `select 1; select to_regclass('notes') as made`)).toEqual([{ made: null }])
  })

  it('run once', async () => {
    const { options } = await install()
    const again = await prepareDatabase(options, keys)
    expect(again.applied).toEqual([])
    await again.commit()
    fs.writeFileSync(path.join(options.root, 'migrations/0002_more.sql'), 'select 1;')
    expect(await pendingOf(options)).toEqual(['0002_more.sql'])
  })
})

describe('keys', () => {
  it('keeps the verifiers of the same passwords', async () => {
    const { options } = await install()
    const read = () => query(url, 'select 1; select login, verifier from stack.login_verifiers order by login')
    const before = await read()
    await (await prepareDatabase(options, keys)).commit()
    expect(await read()).toEqual(before)
  })

  it('refuses other keys than those of the database', async () => {
    const { options } = await install()
    const other = { passwords: loginPasswords('other'), claimsKey: 'other', replace: false }
    expect(await failure(prepareDatabase(options, other))).toContain(
      'KeysDiffer: the database was given other login passwords and another claims key',
    )
    await (await prepareDatabase(options, { ...other, replace: true })).commit()
    expect(await failure(query(urlsOf(url, keys.passwords).auth, 'select 1'))).toContain(
      'password authentication failed',
    )
    await query(urlsOf(url, other.passwords).auth, 'select 1')
  })

  it('re-asserts passwords that this machine does not know', async () => {
    const { options } = await install()
    await external.sql(`alter role stack_backend password 'changed'`)
    await (await prepareDatabase(options, { replace: false })).commit()
    await query(urlsOf(url, keys.passwords).backend, 'select 1')
  })

  it('a server that refuses verifiers gets the passwords', async () => {
    const options = await database('createrole bypassrls')
    const first = await prepareDatabase(options, keys)
    await first.commit()
    // Neon refuses a hashed password when the transaction commits.
    await external.sql(
      `create function stack.refuse() returns trigger language plpgsql as $$ begin
         raise exception 'Neon only supports being given plaintext passwords'; end $$;
       create constraint trigger refuse after insert or update on stack.login_verifiers
         deferrable initially deferred for each row execute function stack.refuse()`,
      new URL(url).pathname.slice(1),
    )
    const other = { ...keys, passwords: loginPasswords('other'), replace: true }
    const gaps = await (await prepareDatabase(options, other)).commit()
    expect(gaps.at(-1)).toContain('clear-text passwords alone')
    await query(urlsOf(url, other.passwords).auth, 'select 1')
  })
})

describe('the URL of the owner', () => {
  const cases: [string, string][] = [
    ['nonsense', 'is no URL'],
    ['mysql://a:b@h/d', 'must begin with postgresql://'],
    ['postgresql://h/d', 'names no user'],
    ['postgresql://a:b@h', 'names no database'],
    ['postgresql://a:b@h/d?sslrootcert=/x', 'DATABASE_CA_FILE'],
    ['postgresql://a:b@h/d?host=/run', 'parameter host'],
  ]
  it.each(cases)('refuses %s', (text, sentence) => {
    url = 'postgresql://nobody@127.0.0.1/none'
    expect(() => urlsOf(text, keys.passwords)).toThrow(sentence)
  })

  it('gives each login its URL with TLS', () => {
    url = 'postgresql://nobody@127.0.0.1/none'
    const { auth } = urlsOf(
      'postgres://o:p%40@db.example:6000/app?sslmode=prefer&channel_binding=require',
      keys.passwords,
    )
    expect(auth).toBe(`postgresql://stack_auth:${keys.passwords.stack_auth}@db.example:6000/app?sslmode=verify-full`)
    expect(urlsOf('postgresql://o:p@db.example/app?sslmode=disable', keys.passwords).auth).toContain('sslmode=disable')
  })

  it('says why the server is not reached', async () => {
    url = 'postgresql://nobody@127.0.0.1/none'
    const at = (text: string) => failure(pendingOf({ url: text, root: '/nowhere' }))
    expect(await at('postgresql://a:b@127.0.0.1:1/d')).toContain(
      'DatabaseUnreachable: the database at 127.0.0.1:1 is not reachable',
    )
    expect(await at(`postgresql://postgres:wrong@127.0.0.1:${external.port}/postgres`)).toContain(
      'does not let postgres in',
    )
  })
})
