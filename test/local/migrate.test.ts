/** Migrations in a real Postgres: one transaction, applied files that stay, and no unguarded table (contract 5.5). */
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { relationsOf } from '../../build/read/relations.ts'
import { readMigration } from '../../build/read/sql.ts'
import { migrate, openMigrations, setsOf } from '../../local/migrate.ts'
import { type Postgres, startPostgres } from '../../local/postgres.ts'
import { temporaryProject } from '../support/project.ts'

const password = 'local'
let postgres: Postgres
let directory: string
const urlOf = (database: string) => `postgresql://postgres:${password}@127.0.0.1:${postgres.port}/${database}`

beforeAll(async () => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'stack-test-'))
  postgres = await startPostgres({ directory, password })
})
afterAll(async () => {
  await postgres?.stop()
  fs.rmSync(directory, { recursive: true, force: true })
})

interface Subject {
  url: string
  sets: ReturnType<typeof setsOf>
  folder: string
  write(name: string, sql: string | Buffer): void
  sql<T = Record<string, unknown>>(text: string): Promise<T[]>
}

/** Makes a new database, and a project with these migrations. */
async function subject(files: Record<string, string>): Promise<Subject> {
  const root = temporaryProject({ 'migrations/.keep': '' })
  const folder = path.join(root, 'migrations')
  const write = (name: string, sql: string | Buffer) => fs.writeFileSync(path.join(folder, name), sql)
  for (const [name, sql] of Object.entries(files)) write(name, sql)
  const database = `t${crypto.randomUUID().replaceAll('-', '')}`
  const admin = new pg.Client(urlOf('postgres'))
  await admin.connect()
  await admin.query(`create database ${database}`)
  await admin.end()
  const client = new pg.Client(urlOf(database))
  await client.connect()
  onTestFinished(() => client.end())
  return {
    url: urlOf(database),
    sets: setsOf(root),
    folder,
    write,
    sql: async (text) => (await client.query(text)).rows,
  }
}

const failure = async (work: Promise<unknown>) =>
  (await work.then(() => undefined).catch((error) => error))?.message as string

/** @returns whether the database holds anything of a migration. */
const isUntouched = async ({ sql }: Subject) => {
  const rows = await sql(`select nspname from pg_namespace where nspname in ('auth', 'webhooks', 'stack')`)
  return rows.length === 0
}

const notes = 'create table notes (id int primary key);\n'

describe('a run', () => {
  it('applies every set in its order, and the next one nothing', async () => {
    const to = await subject({ '0002_more.sql': 'alter table notes add text text;', '0001_notes.sql': notes })
    const applied = await migrate(to.url, to.sets)
    expect(applied.slice(0, 2)).toEqual(['0001_database_roles.sql', '0002_tables.sql'])
    expect(applied.slice(-5)).toEqual([
      '0001_webhooks.sql',
      '0002_refused_deliveries.sql',
      '0003_delivery_lists.sql',
      '0001_notes.sql',
      '0002_more.sql',
    ])
    expect(await migrate(to.url, to.sets)).toEqual([])
    const history = await to.sql<{ name: string }>(
      'select name from stack.migrations order by applied_at, set_name, name',
    )
    expect(history).toHaveLength(applied.length)
  })

  it('goes by the numbers of the names, whatever zeros they have', async () => {
    const to = await subject({
      '10_c.sql': 'select b from t;',
      '2_b.sql': 'alter table t add b int;',
      '001_a.sql': 'create table t ();',
    })
    expect((await migrate(to.url, to.sets)).slice(-3)).toEqual(['001_a.sql', '2_b.sql', '10_c.sql'])
  })

  it('is seen by nobody until it is committed, and rolled back leaves nothing', async () => {
    const to = await subject({ '0001_notes.sql': notes })
    const open = await openMigrations(to.url, to.sets)
    expect([open.applied.at(-1), await isUntouched(to)]).toEqual(['0001_notes.sql', true])
    await open.rollback()
    expect(await isUntouched(to)).toBe(true)
    await (await openMigrations(to.url, to.sets)).commit()
    expect(await isUntouched(to)).toBe(false)
  })

  it('waits for another one, and finds its work done', async () => {
    const to = await subject({ '0001_notes.sql': `select pg_sleep(0.3); ${notes}` })
    const runs = await Promise.all([1, 2, 3].map(() => migrate(to.url, to.sets)))
    expect(runs.map(({ length }) => length > 0).sort()).toEqual([false, false, true])
  })

  it('that is killed half way leaves nothing, and the next one does it all', async () => {
    const to = await subject({ '0001_notes.sql': notes, '0002_slow.sql': 'select pg_sleep(30);' })
    const running = failure(migrate(to.url, to.sets))
    const kill = `select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep(30)%' and pid <> pg_backend_pid() and datname = current_database()`
    while ((await to.sql(kill)).length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await running).toContain('0002_slow.sql')
    expect(await isUntouched(to)).toBe(true)
    to.write('0002_slow.sql', 'select 1;')
    expect((await migrate(to.url, to.sets)).slice(-2)).toEqual(['0001_notes.sql', '0002_slow.sql'])
  })

  it('what one file sets does not reach the next', async () => {
    const to = await subject({
      '0001_elsewhere.sql': `create schema s; set search_path = s; set role backend_service_role; set statement_timeout = 1;`,
      '0002_notes.sql': `${notes} select pg_sleep(0.01);`,
    })
    await migrate(to.url, to.sets)
    expect(await to.sql(`select schemaname from pg_tables where tablename = 'notes'`)).toEqual([
      { schemaname: 'public' },
    ])
  })
})

describe('a migration that fails', () => {
  it.each<[string, string, RegExp]>([
    [
      'a name that means nothing',
      `${notes}\n-- é 😀\nselect\n  nothing();`,
      /0002_fails\.sql:5 failed: function nothing\(\) does not exist/,
    ],
    ['a syntax error', `${notes}\ncreate tabel x ();`, /0002_fails\.sql:3 failed: syntax error at or near "tabel"/],
    [
      'what Postgres gives no place for',
      `select 1;\n\n-- again\n${notes}${notes}`,
      /0002_fails\.sql:5 failed: relation "notes" already exists/,
    ],
    [
      'a violated constraint, with its detail',
      `${notes}insert into notes values (1);\r\ninsert into notes values (1);`,
      /:3 failed: duplicate key value .*\n {2}Key \(id\)=\(1\) already exists/,
    ],
    [
      'a block',
      `select 1;\ndo $$ begin\n raise exception 'no' using hint = 'do it'; end $$;`,
      /:2 failed: no\n {2}do it\n {2}PL\/pgSQL/,
    ],
    ['copy from stdin', 'select 1;\ncopy pg_class from stdin;', /0002_fails\.sql:2 failed/],
    [
      'an index that is made concurrently',
      `${notes}create index concurrently i on notes (id);`,
      /:2 failed: CREATE INDEX CONCURRENTLY cannot run inside a transaction block\n.*`create index` without `concurrently`/,
    ],
    ['vacuum', 'select 1;\nvacuum;', /:2 failed: VACUUM cannot run inside a transaction block\n.*one transaction/],
    ['alter system', 'alter system set work_mem = 1;', /:1 failed: ALTER SYSTEM cannot run inside a transaction block/],
    [
      'a deferred constraint',
      'create table c (id int primary key, p int references c deferrable initially deferred); insert into c values (1, 2);',
      /leave a deferred constraint violated: insert or update on table "c"/,
    ],
    ['commit', `${notes}commit;`, /0002_fails\.sql:2 holds `commit`: all pending migrations run in one transaction/],
    ['begin', `-- one\nbegin;\n${notes}end;`, /0002_fails\.sql:2 holds `begin`/],
    ['rollback', 'ROLLBACK', /0002_fails\.sql:1 holds `rollback`/],
    ['prepare transaction', `${notes}prepare transaction 'x';`, /:2 holds `prepare`/],
    [
      'a part that undoes it',
      `${notes}-- migrate:down\ndrop table notes;`,
      /:2 begins a part that undoes the migration/,
    ],
    [
      'a part that undoes it, in the words of another tool',
      `${notes}\n-- Down Migration\ndrop table notes;`,
      /:3 begins a part/,
    ],
    ['a NUL character', 'select 1;\nselect \0 2;', /0002_fails\.sql:2 holds a NUL character/],
  ])('%s is named with its line, and nothing is applied', async (_, sql, sentence) => {
    const to = await subject({ '0001_before.sql': 'create table before ();', '0002_fails.sql': sql })
    expect(await failure(migrate(to.url, to.sets))).toMatch(sentence)
    expect(await isUntouched(to)).toBe(true)
  })

  it('their most similar valid variants are applied', async () => {
    const to = await subject({
      '0001_notes.sql': `\ufeff${notes}create index on notes (id); savepoint a; insert into notes values (1); rollback to a; release a;`,
      '0002_atomic.sql':
        'create function f() returns int begin atomic select case when true then 1 end; select 2; end; select f();',
      '0003_words.sql': `prepare p as select 1; execute p; do $$ begin perform 1; end $$; comment on table notes is '-- migrate:down; commit';`,
      '0004_nothing.sql': '-- nothing yet\n',
      '.#0005_draft.sql': 'commit;',
    })
    expect((await migrate(to.url, to.sets)).at(-1)).toBe('0004_nothing.sql')
    expect(await to.sql('select id from notes')).toEqual([])
  })

  it('a file that is no UTF-8, or whose name has no number, is refused by its name', async () => {
    const to = await subject({})
    to.write('0001_latin.sql', Buffer.from("select 'é'", 'latin1'))
    expect(await failure(migrate(to.url, to.sets))).toMatch(/0001_latin\.sql is not UTF-8 text/)
    to.write('0001_latin.sql', 'select 1')
    for (const name of ['notes.sql', '0002_NOTES.SQL', '0002 notes.sql']) {
      to.write(name, notes)
      expect(await failure(migrate(to.url, to.sets))).toContain(`${name}: a migration's name is its number`)
      fs.rmSync(path.join(to.folder, name))
    }
    expect(await isUntouched(to)).toBe(true)
  })
})

describe('an applied migration', () => {
  it('that was changed is refused by its name, before anything else runs', async () => {
    const to = await subject({ '0001_notes.sql': notes })
    await migrate(to.url, to.sets)
    to.write('0002_more.sql', 'create table more ();')
    for (const edited of [`${notes}-- a comment`, notes.replace('int', 'bigint'), '']) {
      to.write('0001_notes.sql', edited)
      expect(await failure(migrate(to.url, to.sets))).toMatch(
        /0001_notes\.sql was changed after it was applied.*new migration/,
      )
    }
    expect(await to.sql(`select to_regclass('more') as it`)).toEqual([{ it: null }])
  })

  it('is not changed by other line ends or a byte order mark', async () => {
    const to = await subject({ '0001_notes.sql': `${notes}select 1;\n` })
    await migrate(to.url, to.sets)
    to.write('0001_notes.sql', `\ufeff${notes}select 1;\n`.replaceAll('\n', '\r\n'))
    expect(await migrate(to.url, to.sets)).toEqual([])
  })

  it('that is gone is refused by its name', async () => {
    const to = await subject({ '0001_notes.sql': notes })
    await migrate(to.url, to.sets)
    fs.rmSync(path.join(to.folder, '0001_notes.sql'))
    expect(await failure(migrate(to.url, to.sets))).toMatch(/0001_notes\.sql was applied to this database and is gone/)
    fs.rmSync(to.folder, { recursive: true })
    expect(await failure(migrate(to.url, to.sets))).toMatch(/0001_notes\.sql was applied to this database and is gone/)
  })

  it('admits none before it, only after it', async () => {
    const to = await subject({ '0002_notes.sql': notes })
    await migrate(to.url, to.sets)
    to.write('0001_late.sql', 'create table late ();')
    expect(await failure(migrate(to.url, to.sets))).toMatch(
      /0001_late\.sql would run after 0002_notes\.sql.*higher number/,
    )
    fs.renameSync(path.join(to.folder, '0001_late.sql'), path.join(to.folder, '0003_late.sql'))
    expect(await migrate(to.url, to.sets)).toEqual(['0003_late.sql'])
  })
})

describe('a database of an earlier version', () => {
  /** The tables of node-pg-migrate: one for each set, with file names without their extension. */
  const asBefore = `
    create table stack.auth_migrations (id serial primary key, name varchar(255) not null, run_on timestamp not null);
    create table stack.runtime_migrations (id serial primary key, name varchar(255) not null, run_on timestamp not null);
    create table stack.project_migrations (id serial primary key, name varchar(255) not null, run_on timestamp not null);
    insert into stack.auth_migrations (name, run_on)
      select replace(name, '.sql', ''), '2026-01-02' from stack.migrations where set_name = 'auth' order by name;
    insert into stack.runtime_migrations (name, run_on)
      select replace(name, '.sql', ''), '2026-01-02' from stack.migrations where set_name = 'runtime' order by name;
    insert into stack.project_migrations (name, run_on)
      select replace(name, '.sql', ''), '2026-01-02' from stack.migrations where set_name = 'project' order by name;
    drop table stack.migrations`

  it('is taken over: what ran does not run again, and counts as it is now', async () => {
    const to = await subject({ '0001_notes.sql': notes })
    await migrate(to.url, to.sets)
    await to.sql(asBefore)
    to.write('0002_more.sql', 'create table more ();')
    expect(await migrate(to.url, to.sets)).toEqual(['0002_more.sql'])
    const tables = await to.sql<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'stack' and tablename like '%migrations'`,
    )
    expect(tables).toEqual([{ name: 'migrations' }])
    expect(
      await to.sql(`select applied_at::date::text as day from stack.migrations where name = '0001_notes.sql'`),
    ).toEqual([{ day: '2026-01-02' }])
    to.write('0001_notes.sql', `${notes} -- edited`)
    expect(await failure(migrate(to.url, to.sets))).toContain('0001_notes.sql was changed')
  })

  it('stays as it was where the run is refused', async () => {
    const to = await subject({ '0001_notes.sql': notes })
    await migrate(to.url, to.sets)
    await to.sql(asBefore)
    to.write('0002_fails.sql', 'fails')
    expect(await failure(migrate(to.url, to.sets))).toContain('0002_fails.sql:1')
    expect(await to.sql('select name from stack.project_migrations')).toEqual([{ name: '0001_notes' }])
    fs.rmSync(path.join(to.folder, '0001_notes.sql'))
    fs.rmSync(path.join(to.folder, '0002_fails.sql'))
    expect(await failure(migrate(to.url, to.sets))).toContain('0001_notes.sql was applied to this database and is gone')
  })
})

describe('what every user reaches', () => {
  const t = 'create table t (id int);'
  const to = 'to backend_authenticated;'
  const block = (sql: string) => `do $$ begin execute '${sql}'; end $$;`

  it.each<[string, string, RegExp]>([
    [
      'a table',
      `${t} grant select on t ${to}`,
      /the table public\.t is granted to users and has no row-level security: `alter table public\.t enable/,
    ],
    ['a column', `${t} grant update (id) on t ${to}`, /the table public\.t is granted/],
    ['a table that may only be emptied', `${t} grant truncate on t to public;`, /the table public\.t is granted/],
    ['a table that a block grants', `${t} ${block(`grant select on t ${to}`)}`, /the table public\.t is granted/],
    [
      'a table of another schema',
      'create schema "My"; create table "My".t (); grant select on "My".t to public;',
      /the table "My"\.t is granted/,
    ],
    [
      'a partition',
      `create table p (id int) partition by list (id); alter table p enable row level security; create table p1 partition of p default; grant select on all tables in schema public ${to}`,
      /the table public\.p1 is/,
    ],
    [
      'a view',
      `create view v as select 1; grant select on v ${to}`,
      /the view public\.v is granted to users and reads its tables as its owner: `alter view public\.v set/,
    ],
    [
      'a view whose option is off',
      `create view v with (security_invoker = off) as select 1; grant select on v ${to}`,
      /the view public\.v/,
    ],
    [
      'a materialized view',
      `create materialized view m as select 1; grant select on m ${to}`,
      /the materialized view public\.m is granted/,
    ],
    [
      'a comment that says something else',
      `${t} grant select on t ${to} comment on table t is '@stack publicly';`,
      /the table public\.t/,
    ],
  ])('%s that nothing guards is refused, and nothing is applied', async (_, sql, sentence) => {
    const it = await subject({ '0001_open.sql': sql })
    expect(await failure(migrate(it.url, it.sets))).toMatch(sentence)
    expect(await isUntouched(it)).toBe(true)
  })

  it('what is guarded, revoked, of no user, or said to be public is accepted', async () => {
    const it = await subject({
      '0001_tables.sql': `create table guarded (id int); alter table guarded enable row level security; grant all on guarded ${to}
        create table nobodys (id int); grant select on nobodys to backend_service_role;
        create table taken (id int); grant select on taken ${to} revoke all on taken from backend_authenticated;
        create table currencies (id int); grant select on currencies ${to} comment on table currencies is 'For all. @stack public';
        create temp table scratch (id int); grant select on scratch to public;
        create view mine with (security_invoker = true) as select * from guarded; grant select on mine ${to}
        create view theirs with (security_invoker = on) as select * from guarded; grant select on theirs ${to}
        create view all_of_them as select * from guarded; grant select on all_of_them ${to}
        comment on view all_of_them is '@stack public';
        create table later (id int); grant select on later ${to}`,
      '0002_guard.sql': block('alter table later enable row level security'),
    })
    expect((await migrate(it.url, it.sets)).at(-1)).toBe('0002_guard.sql')
  })

  it('docs/database.md: its statements are accepted, by the build and by the catalog', async () => {
    const page = fs.readFileSync(path.join(import.meta.dirname, '../../docs/database.md'), 'utf8')
    const blocks = [...page.matchAll(/^```sql\n([\s\S]*?)^```/gm)].map(([, sql]) => sql!)
    const files = Object.fromEntries(blocks.map((sql, index) => [`000${index + 1}_page.sql`, sql]))
    expect(blocks).toHaveLength(3)
    const texts = Object.entries(files).map(([name, sql]) => readMigration(name, sql))
    expect(
      relationsOf(texts).filter(
        (one) => !one.isPublic && (one.kind === 'table' ? !one.hasRowSecurity : one.runsAsOwner),
      ),
    ).toEqual([])
    const it = await subject(files)
    expect((await migrate(it.url, it.sets)).slice(-3)).toEqual(Object.keys(files))
  })

  it('is asked also where nothing is pending', async () => {
    const it = await subject({ '0001_notes.sql': notes })
    await migrate(it.url, it.sets)
    await it.sql(`grant select on notes ${to}`)
    expect(await failure(migrate(it.url, it.sets))).toContain('the table public.notes is granted to users')
  })
})

describe('2.14 and 3.8 hooks', () => {
  const created = (options: string, parameters = 'user_id text, email text, data jsonb') =>
    `create function user_created(${parameters}) returns void language plpgsql ${options} as 'begin end';`
  const definer = "security definer set search_path = ''"

  it('that the auth worker can call are applied, and a project without any too', async () => {
    for (const sql of [created(definer), 'select 1;']) {
      const to = await subject({ '0001_hooks.sql': sql })
      expect((await migrate(to.url, to.sets)).at(-1)).toBe('0001_hooks.sql')
    }
  })

  it.each([
    ['runs with the rights of the auth worker', created(''), 'public.user_created must be SECURITY DEFINER'],
    [
      'has another form',
      created(definer, 'user_id text'),
      'the auth worker calls public.user_created(text, text, jsonb) returns void',
    ],
    [
      'gives something else',
      `create function token_claims(id text) returns text language sql ${definer} as 'select id';`,
      'the auth worker calls public.token_claims(text) returns jsonb',
    ],
    [
      'is closed to the auth worker',
      `${created(definer)} revoke execute on function user_created from public;`,
      'grant execute on function public.user_created(text, text, jsonb) to auth_admin',
    ],
  ])('one that %s is refused, and nothing is applied', async (_what, sql, sentence) => {
    const to = await subject({ '0001_hooks.sql': sql })
    expect(await failure(migrate(to.url, to.sets))).toContain(sentence)
    expect(await isUntouched(to)).toBe(true)
  })
})
