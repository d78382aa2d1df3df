/** Calls in policies that run once for each row, found in the text of a migration (contract 5.3). */
import { describe, expect, it } from 'vitest'
import { unwrappedCalls } from '../../build/read/policies.ts'
import { readMigration } from '../../build/read/sql.ts'

const found = (sql: string) =>
  unwrappedCalls(readMigration('', sql)).map(({ name, place }) => [name, sql.slice(place.start, place.end)])

describe('unwrapped calls', () => {
  it.each<[string, string[]]>([
    ['create policy a on t using (owner = auth.uid());', ['auth.uid']],
    ['create policy a on t using (owner = (select auth.uid()));', []],
    ['create policy a on t using (owner = ( SELECT auth.uid() as id ));', []],
    ['CREATE POLICY a ON t USING (AUTH.UID() = owner) WITH CHECK ((select auth.uid()) = owner);', ['auth.uid']],
    [
      "alter policy a on t using (auth.has_permission('a.b') or auth.jwt() is null);",
      ['auth.has_permission', 'auth.jwt'],
    ],
    ['create policy a on t using (owner = "auth"."uid"());', ['auth.uid']],
    ['create policy a on t using (exists (select 1 from m where m.owner = auth.uid()));', ['auth.uid']],
    ['create policy a on t using (true); select auth.uid();', []],
    ['create policy a on t using (true) -- auth.uid()\n;', []],
    ['create policy a on t using (/* auth.uid() */ true);', []],
    ["create policy a on t using (note = 'auth.uid() it''s');", []],
    ["create policy a on t using (note = e'\\'' and owner = auth.uid());", ['auth.uid']],
    ['create function f() returns text as $$ create policy x on t using (auth.uid() = a) $$;', []],
    [
      'create function f() returns text as $body$ auth.uid() $body$; create table t (owner text default auth.uid());',
      [],
    ],
    ['create policy a on t using (auth.uids() = b or other.uid() = c or auth.uid = d);', []],
    ['create policy "auth.uid()" on t using (true);', []],
  ])('%s', (sql, expected) => {
    expect(found(sql).map(([text]) => text)).toEqual(expected)
  })

  it('has the place of the name', () => {
    expect(found('create policy a on t using (owner = auth . uid ());')).toEqual([['auth.uid', 'auth . uid']])
  })
})
