/** The text of migrations proves which roles reach tables and views, and what guards them (contract 5.5). */
import { describe, expect, it } from 'vitest'
import { relationsOf } from '../../build/read/relations.ts'
import { readMigration, statementsOf, tokensOf } from '../../build/read/sql.ts'

/** @returns the relations that every user reaches although nothing guards them. */
function open(...migrations: string[]): string[] {
  const read = migrations.map((sql, index) => readMigration(`migrations/000${index}.sql`, sql))
  return relationsOf(read)
    .filter(({ granted, isPublic }) => granted && !isPublic)
    .filter(({ kind, hasRowSecurity, runsAsOwner }) => (kind === 'table' ? !hasRowSecurity : runsAsOwner))
    .map(({ name }) => name)
}

const t = 'create table t (id int);'
const granted = `${t} grant select on t to backend_authenticated;`
const v = `create view v as select 1 as one; grant select on v to backend_authenticated;`

describe('a table that users reach', () => {
  it.each<[string, string]>([
    ['granted', granted],
    ['granted to everybody', `${t} grant all privileges on table public.t to PUBLIC;`],
    ['granted by columns', `${t} grant select (id), update (id) on t to backend_authenticated;`],
    ['granted with all others', `${t} grant select on all tables in schema public to backend_authenticated;`],
    ['granted beside another role', `${t} grant insert on public.t to someone, group backend_authenticated;`],
    ['granted by default', `alter default privileges in schema public grant select on tables to public; ${t}`],
    ['quoted', `create table "T t" (id int); grant select on "T t" to "backend_authenticated";`],
    ['in capitals', `CREATE TABLE IF NOT EXISTS Public.T (id int); GRANT SELECT ON t TO Backend_Authenticated;`],
    ['a partition', 'create table t partition of p default; grant select on t to public;'],
    ['of another server', 'create foreign table t (id int) server s; grant select on t to public;'],
    ['whose guard is switched off', `${granted} alter table t enable row level security, disable row level security;`],
    ['whose guard is a comment', `${granted} -- alter table t enable row level security;`],
    ['whose guard is a nested comment', `${granted} /* /* */ alter table t enable row level security; */`],
    ['whose guard is a text', `${granted} select 'alter table t enable row level security';`],
    ['whose guard is the body of a table’s default', `${granted} select $$alter table t enable row level security$$;`],
    ['whose guard is another table’s', `${granted} alter table s.t enable row level security;`],
    ['that is made anew', `${granted} alter table t enable row level security; drop table t; ${granted}`],
    ['with a comment that says something else', `${granted} comment on table t is 'stack public';`],
    [
      'with a comment that was taken away',
      `${granted} comment on table t is '@stack public'; comment on table t is null;`,
    ],
    ['with a column’s comment', `${granted} comment on column t.id is '@stack public';`],
    ['of which less was revoked', `${t} grant select, insert on t to public; revoke insert on t from public;`],
    ['of which a column was revoked', `${granted} revoke select (id) on t from backend_authenticated;`],
    ['whose option to grant was revoked', `${granted} revoke grant option for all on t from backend_authenticated;`],
    [
      'beside a function that does nothing to it',
      `${granted} create function f() returns int as $$ select 1 $$ language sql;`,
    ],
  ])('%s', (_, sql) => {
    expect(open(sql)).toHaveLength(1)
  })

  it.each<[string, string]>([
    ['granted to nobody', t],
    ['granted to another role', `${t} grant select on t to someone;`],
    ['with row-level security', `${granted} alter table t enable row level security;`],
    [
      'with it among other actions',
      `${granted} alter table if exists only public.t add b int, enable row level security;`,
    ],
    ['with it before the grant', `${t} ALTER TABLE t ENABLE ROW LEVEL SECURITY; grant select on t to public;`],
    ['said to be public', `${granted} comment on table t is 'Read by all. @stack  public';`],
    ['said to be public in a dollar quote', `${granted} comment on table t is $c$@stack public$c$;`],
    ['revoked', `${granted} revoke all on t from backend_authenticated;`],
    ['revoked with all others', `${granted} revoke select on all tables in schema public from backend_authenticated;`],
    [
      'of which every column was revoked',
      `${t} grant select (id) on t to public; revoke select (id) on t from public;`,
    ],
    ['dropped', `${granted} drop table if exists x, t;`],
    ['dropped with its schema', `create table s.t (id int); grant select on s.t to public; drop schema s cascade;`],
    ['renamed: what becomes of it is for the catalog', `${granted} alter table t rename to u;`],
    ['moved', `${granted} alter table t set schema s;`],
    ['temporary', 'create temp table t (id int); grant select on t to public;'],
    ['of another schema than the grant’s', `${t} grant select on s.t to public;`],
    ['of which only a sequence is granted', `${t} grant usage on sequence t to public;`],
    ['where a role is granted', `${t} grant t to backend_authenticated;`],
    ['granted by another role’s default', `alter default privileges for role x grant select on tables to public; ${t}`],
    ['granted before it was there', `grant select on all tables in schema public to public; ${t}`],
    ['in a text', "select 'create table t (id int); grant select on t to public;';"],
    ['in a search path that is not known', `set search_path to s; ${granted}`],
    [
      'where a block may enable it',
      `${granted} do $$ begin execute 'alter table t enable row level security'; end $$;`,
    ],
    [
      'where a function may revoke',
      `create procedure f() as 'begin revoke all on t from public; end' language plpgsql; ${granted}`,
    ],
  ])('but not %s', (_, sql) => {
    expect(open(sql)).toEqual([])
  })

  it('a later migration guards it, and an earlier one of the same name does not', () => {
    const guard = 'alter table t enable row level security;'
    expect(open(granted, guard)).toEqual([])
    expect(open(guard, granted)).toEqual(['t'])
  })

  it('a search path counts for its own migration', () => {
    expect(open('set search_path = s;', granted)).toEqual(['t'])
    expect(open('alter role owner set search_path = s;', granted)).toEqual([])
  })
})

describe('a view that users reach', () => {
  it.each<[string, string]>([
    ['that runs as its owner', v],
    ['with other options', `create view v with (security_barrier) as select 1; grant select on v to public;`],
    [
      'whose option is false',
      `create view v with (security_invoker = false) as select 1; grant select on v to public;`,
    ],
    [
      'that is replaced without the option',
      `create view v with (security_invoker) as select 1; create or replace view v as select 2; grant select on v to public;`,
    ],
    ['whose option was reset', `${v} alter view v set (security_invoker); alter view v reset (security_invoker);`],
    ['whose option was set to off', `${v} alter view v set (security_invoker = off);`],
    [
      'that names the option in its query',
      `create view v as select security_invoker from x; grant select on v to public;`,
    ],
    ['that is materialized', `create materialized view v as select 1; grant select on v to public;`],
  ])('%s', (_, sql) => {
    expect(open(sql)).toEqual(['v'])
  })

  it.each<[string, string]>([
    [
      'that runs as its caller',
      `create view v with (security_invoker = true) as select 1; grant select on v to public;`,
    ],
    ['that is replaced by one that does', `${v} create or replace view v with (security_invoker = on) as select 2;`],
    ['that is altered so', `${v} alter view if exists v set (security_invoker = on);`],
    ['that is altered so as a table', `${v} alter table v set (security_invoker = '1', security_barrier);`],
    ['said to be public', `${v} comment on view public.v is '@stack public';`],
    [
      'materialized, and said to be public',
      `create materialized view v as select 1; grant select on v to public; comment on materialized view v is '@stack public';`,
    ],
    ['dropped with what it needs', `${v} drop table x cascade;`],
    ['granted to nobody', 'create view v as select 1;'],
  ])('but not one %s', (_, sql) => {
    expect(open(sql)).toEqual([])
  })
})

it('places are those of the grant and of the name', () => {
  const sql = `-- é\ncreate table app.t (id int);\ngrant select on app.t to public;`
  const [one] = relationsOf([readMigration('migrations/1.sql', sql)])
  expect([one!.name, sql.slice(one!.place.start, one!.place.end)]).toEqual(['app.t', 'app.t'])
  expect(sql.slice(one!.granted!.place.start, one!.granted!.place.end)).toBe('grant select on app.t to public')
})

describe('statements', () => {
  const count = (sql: string) => statementsOf(sql).length
  it.each<[string, number]>([
    ['', 0],
    [';;-- ;\n;', 0],
    ['select 1; select 2', 2],
    ["select ';'; select e'\\';'; select ';''';", 3],
    ['select $$;$$; select $a$ $$;$$ $a$;', 2],
    ['select a$b; select c$b;', 2],
    ['select ";"";";', 1],
    ['/* ; /* ; */ ; */ select 1;', 1],
    ['create rule r as on insert to t do (delete from a; delete from b); select 1', 2],
    ['create function f() returns int begin atomic select case when true then 1 end; select 2; end; select 1;', 2],
    ['create or replace procedure f() begin atomic select 1; end; begin; end;', 3],
    ['begin; select 1; end;', 3],
    ["select 'never closed; select 1;", 1],
  ])('of %j: %i', (sql, expected) => {
    expect(count(sql)).toBe(expected)
  })

  it('a text of many megabytes is read, closed or not', () => {
    const long = "it''s ".repeat(2_000_000)
    expect(tokensOf(`select '${long}', "${long}", $$${long}$$, 1`)).toHaveLength(8)
    expect(tokensOf(`select '${long}`)).toHaveLength(2)
  })
})
