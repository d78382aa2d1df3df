/** SQL that tries to reach foreign rows, run by a real handler on either kind of connection (contract 5.1 to 5.4). */
import { createHmac, randomUUID } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { connectionKinds } from '../../support/connections.ts'
import { type Person, useStack } from '../../support/stack.ts'

interface Statement {
  text: string
  values?: unknown[]
}

/** Attempts to escape. Each runs alone before the theft. */
const escapes: string[][] = [
  // become another role
  ['reset role'],
  ['set role none'],
  ['set role backend_service_role'],
  ['set session role backend_service_role'],
  ['set local role auth_admin'],
  ['set session authorization postgres'],
  ['set session authorization default'],
  ['reset session authorization'],
  ['reset all'],
  ['discard all'],
  [`select set_config('role', 'backend_service_role', true)`],
  [`select set_config('role', 'none', false)`],
  [`select set_config('session_authorization', 'postgres', true)`],
  ['alter role stack_backend bypassrls'],
  ['alter role backend_authenticated bypassrls'],
  ['grant backend_service_role to backend_authenticated'],
  ['reset role', 'grant backend_service_role to stack_backend'],
  ['create role thief superuser'],
  // remove the guards of the rows
  ['set local row_security = off'],
  ['alter table notes disable row level security'],
  ['alter table notes no force row level security'],
  ['drop policy own on notes'],
  ['create policy all_rows on notes using (true)'],
  ['alter table notes owner to backend_authenticated'],
  ['create view everything as select * from notes'],
  ['create materialized view everything as select * from notes'],
  ['create rule r as on select to notes do instead select 1'],
  // replace the functions that policies call
  [`create or replace function auth.uid() returns text language sql as $$ select 'usr_x' $$`],
  [`create function public.uid() returns text language sql security definer as $$ select 'usr_x' $$`],
  [`create function pg_temp.uid() returns text language sql as $$ select 'usr_x' $$`],
  ['create temp table notes (owner text, text text)'],
  ['create schema thief'],
  [`select set_config('search_path', 'pg_temp, public', false)`],
  ['set search_path = pg_temp, auth, public'],
  [`create operator public.= (leftarg = text, rightarg = text, function = texteq)`],
  // hide statements in other statements
  [`do $$ begin execute 'set role backend_service_role'; end $$`],
  [`do $$ begin execute 'reset role'; end $$`],
  ['do $$ begin commit; end $$'],
  ['do $$ begin rollback; set role backend_service_role; end $$'],
  ['prepare p as select * from notes', 'reset role'],
  ['declare c cursor with hold for select * from notes', 'reset role'],
  [';commit'],
  [';;/* x */;rollback'],
  [`select 1; reset role`],
  ['savepoint s', 'reset role', 'rollback to s'],
  ['set transaction read only'],
  ['lock table notes in access exclusive mode nowait'],
  // reach data that is not in rows
  ['copy notes to stdout'],
  ['copy (select * from notes) to stdout'],
  ['copy notes from stdin'],
  [`copy notes to program 'cat'`],
  [`copy notes to '/dev/null'`],
  [`select pg_read_file('postgresql.conf')`],
  [`select lo_import('/etc/hostname')`],
  [`select lo_from_bytea(0, 'x')`],
  ['create extension dblink'],
  [`load 'auto_explain'`],
  [`select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()`],
  ['alter system set row_security = off'],
  [`select * from pg_authid`],
  [`select * from auth.claims_keys`],
]

/** Queries for foreign rows, which run after each attempt. */
const thefts = {
  select: 'select owner, text from notes where owner = $1',
  update: `update notes set text = text || ' stolen' where owner = $1 returning text`,
  delete: 'delete from notes where owner = $1 returning text',
  insert: `insert into notes (owner, text) values ($1, gen_random_uuid()::text) returning text`,
}

describe.each(connectionKinds)('$kind', ({ isKept, variables }) => {
  // With one connection for each object of the pool, the next request gets the session that the request before it has left.
  const probe = useStack('test/edge/probe', { ...variables, PROBE_SECRET: 'secret', STACK_POOL_CONNECTIONS: '2' })

  /** Sends statements that a handler runs, like a handler with an SQL injection. */
  const run = (person: Person, statements: Statement[], as: 'caller' | 'service' = 'caller') =>
    probe.call(`/sql/${as}`, { token: person.token, json: statements })

  let owner: Person
  let thief: Person
  const secret = randomUUID()

  const notesOf = (person: Person) => probe.sql('select text from notes where owner = $1', [person.id])

  beforeAll(async () => {
    owner = await probe.signUp()
    thief = await probe.signUp()
    await probe.call(`/sql/note/${secret}`, { method: 'POST', token: owner.token })
  })

  describe('5.1 whatever SQL a handler runs, it meets no foreign row', () => {
    it.each(escapes.map((statements) => [statements.join(' · '), statements] as const))('%s', async (_, statements) => {
      const before = statements.map((text) => ({ text }))
      for (const text of Object.values(thefts)) {
        const answer = await run(thief, [...before, { text, values: [owner.id] }])
        if (answer.status === 200) expect([text, answer.json.at(-1)]).toEqual([text, []])
        else {
          expect([403, 500]).toContain(answer.status) // 403 means that a policy refused the row.
          expect(answer.text).not.toContain(secret)
        }
      }
      expect(await notesOf(owner)).toEqual([{ text: secret }])
      // The next request has the identity of its own caller.
      expect((await run(thief, [{ text: 'select auth.uid() as uid, current_user::text as role' }])).json).toEqual([
        [{ uid: thief.id, role: 'backend_authenticated' }],
      ])
    })
  })

  it('5.3 other claims are not signed, so the database refuses them (28000): also within one statement', async () => {
    const claims = JSON.stringify({ sub: owner.id })
    const wrong = createHmac('sha256', 'a guess').update(claims).digest('hex')
    const set = (setting: string, value: string): Statement => ({
      text: `select set_config('request.jwt.${setting}', $1, true)`,
      values: [value],
    })
    const read = { text: 'select text from notes' }
    for (const signature of [[], [set('signature', '')], [set('signature', wrong)]]) {
      expect((await run(thief, [set('claims', claims), ...signature, read])).status).toBe(500)
    }
    const inOne = `with forged as materialized (select set_config('request.jwt.claims', $1, true) as set)
      select text from forged, notes where set is not null and auth.uid() is not null`
    const { status, json } = await run(thief, [{ text: inOne, values: [claims] }])
    expect([status, json.error]).toEqual([500, 'internal_error'])
    await probe.logged(({ error }) => String(error).includes('not signed by the backend'))
    expect((await run(owner, [read])).json).toEqual([[{ text: secret }]])
  })

  it('5.1 what the service role may not read either', async () => {
    for (const table of ['password_credentials', 'signing_keys', 'claims_keys', 'service_role_keys']) {
      for (const as of ['caller', 'service'] as const) {
        const { status } = await run(thief, [{ text: `select * from auth.${table}` }], as)
        expect([table, as, status]).toEqual([table, as, 500])
      }
    }
    expect((await run(thief, [{ text: 'select id from auth.users' }])).status).toBe(500)
    expect((await run(thief, [{ text: 'select id from auth.users' }], 'service')).status).toBe(200)
  })

  it('5.4 a second statement in one text is refused (42601)', async () => {
    const text = randomUUID()
    const stacked = await run(thief, [{ text: `select 1; insert into notes (text) values ('${text}')` }])
    expect([stacked.status, await notesOf(thief)]).toEqual([500, []])
    await probe.logged(({ code }) => code === '42601')
  })

  it('2.4 a COMMIT that got through ends the request: what follows it is not run', async () => {
    const text = randomUUID()
    const hidden = { text: `/* ${'/* */'} */ commit` } // Postgres reads nested comments as one comment.
    const answer = await run(thief, [hidden, { text: 'insert into notes (text) values ($1)', values: [text] }])
    expect([answer.status, await notesOf(thief)]).toEqual([500, []])
  })

  it('5.7 nor does what was sent before the COMMIT was answered', async () => {
    const { status } = await probe.call('/sql/overtaken', { method: 'POST', token: thief.token })
    expect([status, await notesOf(thief)]).toEqual([500, []])
  })

  it('5.7 a rollback that begins another transaction is noticed before anything was written', async () => {
    const chained = { text: `/* ${'/* */'} */ rollback and chain` }
    const answer = await run(thief, [chained, { text: 'select 1' }])
    expect(answer.status).toBe(500)
    await probe.logged(
      ({ request_id, error }) =>
        request_id === answer.json.request_id && String(error).includes('the transaction is the request'),
    )
  })

  describe('5.7 one request neither disturbs nor watches another one’s session', () => {
    it.each([
      `select pg_terminate_backend(pid) from generate_series(1, 100000) pid`,
      'select pg_cancel_backend(1)',
      'select * from pg_stat_activity',
      'select query from pg_stat_get_activity(null)',
      'select pg_stat_get_backend_activity(1)',
    ])('%s', async (text) => {
      for (const before of [[], [{ text: 'reset role' }]]) {
        const { status, json } = await run(thief, [...before, { text }])
        expect([status, json.error]).toEqual([500, 'internal_error'])
        await probe.logged(({ request_id, code }) => request_id === json.request_id && code === '42501')
      }
      expect((await run(thief, [{ text: 'select 1 as one' }])).status).toBe(200)
    })
  })

  it('5.3 a signature that leaked is worth nothing once it has expired, and cannot be made to last', async () => {
    const keep = {
      text: `select current_setting('request.jwt.claims') as claims, current_setting('request.jwt.signature') as signature`,
    }
    const [[{ claims, signature }]] = (await run(owner, [keep])).json
    const [expiry, mac] = signature.split('.')
    expect(Number(expiry) * 1000 - Date.now()).toBeLessThanOrEqual(61_000)
    const set = (name: string, value: string): Statement => ({
      text: `select set_config('request.jwt.${name}', $1, true)`,
      values: [value],
    })
    const read = { text: 'select text from notes' }
    for (const longer of [
      `${Number(expiry) + 60}.${mac}`,
      mac,
      `.${mac}`,
      `x.${mac}`,
      `${expiry}.`,
      `${expiry}.${mac}.1`,
    ]) {
      expect((await run(thief, [set('claims', claims), set('signature', longer), read])).status).toBe(500)
    }
    // Signs with the stack's own key, so that an expiry in the past shows what the database does when time has passed.
    const signed = (seconds: number) => {
      const until = Math.floor(Date.now() / 1000) + seconds
      const key = JSON.parse(fs.readFileSync(path.join(probe.root, '.stack/keys.json'), 'utf8')).claims_key
      return `${until}.${createHmac('sha256', key).update(`${until}.${claims}`).digest('hex')}`
    }
    const uid = async (seconds: number) => {
      const set = `select set_config('request.jwt.claims', $1, false), set_config('request.jwt.signature', $2, false)`
      await probe.sql(set, [claims, signed(seconds)])
      return probe.sql('select auth.uid() as uid')
    }
    expect(await uid(60)).toEqual([{ uid: owner.id }])
    await expect(uid(-2)).rejects.toThrow('has expired')
    await probe.sql('reset all')
  })

  it('5.7 a login that no longer opens is repaired: the request that finds it is served', async () => {
    const broken = [
      `alter role stack_backend password 'another'`,
      `alter role stack_backend set local_preload_libraries = 'nowhere'`,
    ]
    for (const text of broken) {
      await probe.sql('select auth.repair_logins()')
      await run(thief, [{ text: 'reset role' }, { text }])
      await vi.waitUntil(
        async () => {
          // Open connections go on working: only a new one needs the password.
          await probe.sql(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'stack_backend'`)
          const answer = await run(thief, [{ text: 'select 1 as one' }])
          expect([200, 503]).toContain(answer.status)
          return probe.log.some(({ message }) => String(message).startsWith('a database login did not open'))
        },
        { timeout: 15_000, interval: 200 },
      )
      expect((await run(thief, [{ text: 'select 1 as one' }])).status).toBe(200)
      ;(probe.log as unknown[]).length = 0
      await new Promise((resolve) => setTimeout(resolve, 10_000)) // An isolate asks for a repair once in 10 s.
    }
  })

  it('5.7 only auth_admin may have logins repaired, and nobody reads the verifiers', async () => {
    for (const before of [[], [{ text: 'reset role' }]]) {
      for (const text of ['select auth.repair_logins()', 'select * from stack.login_verifiers']) {
        for (const as of ['caller', 'service'] as const) {
          expect((await run(thief, [...before, { text }], as)).status).toBe(500)
        }
      }
    }
    await expect(probe.sql('set role auth_admin; select * from stack.login_verifiers')).rejects.toThrow(
      'permission denied',
    )
    await probe.sql('reset role')
  })

  it.each(['commit', 'rollback'])('2.4 so does a %s that begins another transaction at once', async (command) => {
    const insert = { text: 'insert into notes (text) values (gen_random_uuid())' }
    const chained = { text: `/* ${'/* */'} */ ${command} and chain` }
    expect((await run(thief, [insert, chained])).status).toBe(500)
    expect((await notesOf(thief)).length).toBe(command === 'commit' ? 1 : 0)
    await probe.sql('delete from notes where owner = $1', [thief.id])
  })

  describe('5.4 what one request leaves in its session, the next does not find', () => {
    // Without the privilege lastval() would be refused in every session.
    beforeAll(() => probe.sql('grant usage on sequence notes_id_seq to backend_authenticated'))

    it.each<[string, Statement[], Statement]>([
      [
        'a setting',
        [{ text: `select set_config('my.secret', $1, false)`, values: [secret] }],
        { text: `select current_setting('my.secret', true) as found` },
      ],
      [
        'claims',
        [{ text: `select set_config('request.jwt.claims', '{"sub":"usr_x"}', false)` }],
        { text: 'select nullif(auth.uid(), $1) as found', values: ['thief'] },
      ],
      [
        'a role',
        [{ text: 'set session role none' }],
        { text: `select nullif(current_user, 'backend_authenticated') as found` },
      ],
      [
        'a search path',
        [{ text: `set session search_path = 'auth'` }],
        { text: `select nullif(current_setting('search_path'), 'public') as found` },
      ],
      [
        'a time zone',
        [{ text: `set session time zone 'Asia/Tokyo'` }],
        { text: `select nullif(current_setting('TimeZone'), 'Asia/Tokyo') = '' as found` },
      ],
      [
        'a time limit',
        [{ text: 'set session statement_timeout = 4321' }],
        { text: `select nullif(current_setting('statement_timeout'), '10s') as found` },
      ],
      [
        'a cursor',
        [{ text: 'declare leak cursor with hold for select text from notes' }],
        { text: 'select max(name) as found from pg_cursors' },
      ],
      [
        'a prepared statement',
        [{ text: 'prepare leak as select text from notes' }],
        { text: `select max(name) as found from pg_prepared_statements where name <> ''` },
      ],
      ['a channel', [{ text: 'listen leak' }], { text: 'select max(c) as found from pg_listening_channels() c' }],
      [
        'a lock',
        [{ text: 'select pg_advisory_lock(7)' }],
        { text: `select max(objid::text) as found from pg_locks where locktype = 'advisory'` },
      ],
      [
        'a seed',
        [{ text: 'select setseed(0.5)' }],
        { text: 'select nullif(random(), 0.9851677175347999) is null as found' },
      ],
      [
        'a sequence’s value',
        [{ text: `insert into notes (text) values ('sequence ' || gen_random_uuid())` }],
        { text: 'select lastval() as found' },
      ],
    ])('%s', async (_what, plant, look) => {
      const values = look.values?.map(() => thief.id)
      for (let round = 0; round < 4; round++) {
        expect((await run(owner, plant)).status).toBe(200)
        const { status, json } = await run(thief, [{ ...look, ...(values ? { values } : {}) }])
        // In a new session lastval() raises an error.
        expect(status === 500 && look.text.includes('lastval') ? null : json[0][0].found || null).toBe(null)
      }
      await probe.sql(`delete from notes where text like 'sequence %'`)
    })

    it(isKept ? 'though it is the same connection' : 'for it is another connection', async () => {
      const pids = new Set<number>()
      for (let round = 0; round < 8; round++) {
        const { json } = await run(round % 2 ? owner : thief, [{ text: 'select pg_backend_pid() as pid' }])
        pids.add(json[0][0].pid)
      }
      expect([pids.size <= 2, pids.size === 8]).toEqual([isKept, !isKept])
    })
  })
})
