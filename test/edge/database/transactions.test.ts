/** The two transactions of a request, through the real bundle (contract 2.4, 2.13, 5). */
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { describe, expect, it, vi } from 'vitest'
import { type Person, useStack } from '../../support/stack.ts'

const probe = useStack('test/edge/probe', { PROBE_SECRET: 'äöü' })

const notes = () => probe.sql<{ text: string }>('select text from notes').then((rows) => rows.map(({ text }) => text))

/** Sends statements that a handler runs, like a handler with an SQL injection. */
function run(person: Person, statements: { text: string; values?: unknown[] }[], as: 'caller' | 'service' = 'caller') {
  return probe.call(`/sql/${as}`, { token: person.token, json: statements })
}

describe('2.16 work for after the commit', () => {
  const after = (text: string, token: string, query = '') =>
    probe.call(`/mine/after/${text}${query}`, { method: 'POST', token })
  const of = async (text: string) => (await notes()).filter((note) => note.startsWith(text)).sort()

  it('sees what the request wrote, has no user, and fails alone', async () => {
    const { token } = await probe.signUp()
    const text = randomUUID()
    expect((await after(text, token)).status).toBe(204)
    await vi.waitFor(async () => expect(await of(text)).toEqual([`${text} 1 seen by none`, `${text} written`]))
    await probe.logged(({ message }) => String(message).startsWith('work after the commit failed'))
  })

  it('does not run where the request fails', async () => {
    const { token } = await probe.signUp()
    const [failing, later] = [randomUUID(), randomUUID()]
    expect((await after(failing, token, '?fails=1')).status).toBe(500)
    expect((await after(later, token)).status).toBe(204)
    await vi.waitFor(async () => expect(await of(later)).toHaveLength(2))
    expect(await of(failing)).toEqual([])
  })
})

describe('2.4 the transaction is the request', () => {
  it('a handler that returns has written, one that throws has not: with both connections', async () => {
    const person = await probe.signUp()
    const text = randomUUID()
    expect((await probe.call(`/sql/note/${text}`, { method: 'POST', token: person.token })).status).toBe(204)
    for (const path of ['throw-after-writing', 'refuse-after-writing']) {
      const answer = await probe.call(`/sql/${path}/${text}-${path}`, { method: 'POST', token: person.token })
      expect([500, 422]).toContain(answer.status)
    }
    expect((await notes()).filter((note) => note.startsWith(text))).toEqual([text])
  })

  it('a handler that swallows an SQL error does not answer 200, and has written nothing', async () => {
    const person = await probe.signUp()
    for (const path of ['swallow', 'swallow-in-service']) {
      const text = randomUUID()
      const answer = await probe.call(`/sql/${path}/${text}`, { method: 'POST', token: person.token })
      expect(answer.json).toMatchObject({ error: 'internal_error', status: 500 })
      expect(await notes()).not.toContain(text)
    }
  })

  it('what has no transaction id is kept too: a function that notifies, a write to a foreign table', async () => {
    const { token } = await probe.signUp()
    const { database_url } = probe.stack.record
    const { hostname, port, pathname, username, password } = new URL(database_url)
    const place = `host '${hostname}', port '${port}', dbname '${pathname.slice(1)}'`
    await probe.sql(`create function announce(text) returns void language sql as $$ select pg_notify('probe', $1) $$`)
    await probe.sql('create extension postgres_fdw')
    await probe.sql(`create server far foreign data wrapper postgres_fdw options (${place})`)
    await probe.sql(
      `create user mapping for public server far
        options (user '${username}', password '${decodeURIComponent(password)}', password_required 'false')`,
    )
    await probe.sql('create table outside (text text)')
    await probe.sql(`create foreign table foreigners (text text) server far options (table_name 'outside')`)
    await probe.sql('grant select, insert on foreigners to backend_authenticated')
    const listener = new pg.Client(database_url)
    await listener.connect()
    const heard: unknown[] = []
    listener.on('notification', ({ payload }) => heard.push(payload))
    await listener.query('listen probe')
    const statements = [{ text: `select announce('somebody')` }, { text: `insert into foreigners values ('here')` }]
    // Each statement has its own request, because a request that writes would commit what another statement left open.
    for (const statement of statements) {
      expect((await probe.call('/sql/caller', { token, json: [statement] })).status).toBe(200)
    }
    expect(await probe.sql('select text from outside')).toEqual([{ text: 'here' }])
    await vi.waitUntil(() => heard.length > 0, { timeout: 5_000 })
    await listener.end()
    expect(heard).toEqual(['somebody'])
  })

  it('the SQL error behind a ROLLBACK is in the log, with its statement and the place of the call', async () => {
    const person = await probe.signUp()
    const { json } = await probe.call(`/sql/swallow/${randomUUID()}`, { method: 'POST', token: person.token })
    const line = await probe.logged(({ request_id, level }) => request_id === json.request_id && level === 'error')
    expect(line['cause']).toMatchObject({ code: '22012', statement: 'select 1 / 0' })
  })

  it('the transaction is not the handler’s to end', async () => {
    const person = await probe.signUp()
    const text = randomUUID()
    for (const command of [
      'commit',
      ' COMMIT and chain',
      'rollback',
      'begin',
      'end',
      '/* * */ -- x\n rollback',
      '--\nbegin',
    ]) {
      const insert = { text: 'insert into notes (text) values ($1)', values: [text] }
      expect((await run(person, [insert, { text: command }])).status).toBe(500)
    }
    expect(await notes()).not.toContain(text)
  })

  it.each([[5], [{}], [null]])('a query whose text is %j fails, and harms no other request', async (text) => {
    const person = await probe.signUp()
    expect((await run(person, [{ text: text as never }])).status).toBe(500)
    for (let i = 0; i < 5; i++) expect((await run(person, [{ text: 'select 1 as one' }])).json).toEqual([[{ one: 1 }]])
  })

  it('values go out as what Postgres reads: lists, JSON, bytes of text', async () => {
    const person = await probe.signUp()
    const values = [['a', null, 'b"\\,{}'], { a: [1] }, 1.5, true, null]
    const text =
      'select $1::text[] as list, $2::jsonb as json, $3::float8 as number, $4::bool as bool, $5::text as nothing'
    expect((await run(person, [{ text, values }])).json).toEqual([
      [{ list: values[0], json: values[1], number: 1.5, bool: true, nothing: null }],
    ])
    const deep = `[{"text":"select $1::text","values":[${'['.repeat(20_000)}${']'.repeat(20_000)}]}]`
    const headers = { 'content-type': 'application/json' }
    const refused = await probe.call('/sql/caller', { token: person.token, body: deep, headers })
    expect([400, 500]).toContain(refused.status)
    expect((await run(person, [{ text: 'select 1 as one' }])).status).toBe(200)
  })

  it('5.4 a statement carries 32 MiB in each direction; what is more fails, and harms no other request', async () => {
    const person = await probe.signUp()
    const rows = (mebibytes: number) => ({
      text: `select length(string_agg(part, '')) from (select repeat('x', 1048576) as part from generate_series(1, $1::int)) parts`,
      values: [mebibytes],
    })
    expect((await run(person, [rows(40)])).json).toEqual([[{ length: 40 * 1024 * 1024 }]])
    const many = { text: `select repeat('x', 1048576) as part from generate_series(1, $1::int)` }
    expect((await run(person, [{ ...many, values: [20] }])).json[0].length).toBe(20)
    const { status, json } = await run(person, [{ ...many, values: [40] }])
    expect([status, json.error]).toEqual([500, 'internal_error'])
    await probe.logged(({ request_id, error }) => request_id === json.request_id && String(error).includes('32 MiB'))
    expect((await run(person, [{ text: 'select 1 as one' }])).json).toEqual([[{ one: 1 }]])
  })

  it('a character that Postgres cannot store is the project’s 500 where the project made it', async () => {
    const answer = await probe.call('/sql/nul', { token: (await probe.signUp()).token })
    expect(answer.json).toMatchObject({ error: 'internal_error', status: 500 })
    const line = await probe.logged(
      ({ request_id, level }) => request_id === answer.json.request_id && level === 'error',
    )
    expect(line['code']).toBe('22021')
  })

  it('3.5 a session that was ended is 401 also where nobody awaits what it asks of the database', async () => {
    const { id, token } = await probe.signUp()
    await probe.sql(`update auth.sessions set ended_at = now(), end_reason = 'revoked' where user_id = $1`, [id])
    const { status } = await probe.call(`/sql/unawaited/${randomUUID()}`, { method: 'POST', token })
    expect([status, await probe.sql('select * from notes where owner = $1', [id])]).toEqual([401, []])
  })

  it('2.6 a constructor belongs to no request', async () => {
    const person = await probe.signUp()
    expect((await probe.call('/sql/hoarded', { token: person.token })).json).toBe('OutsideRequest')
  })

  describe('2.13 an SQL error that nobody caught', () => {
    const line = (json: { request_id: string }) =>
      probe.logged(({ request_id, code, cause }) => request_id === json.request_id && (code ?? cause) !== undefined)
    const raise = (code: string) => `do $$ begin raise exception 'secret detail' using errcode = '${code}'; end $$`

    it('a row that a policy refuses is 403', async () => {
      const person = await probe.signUp()
      const { json, text } = await run(person, [{ text: `insert into notes (owner, text) values ('usr_x', 'secret')` }])
      expect(json).toMatchObject({ error: 'forbidden', status: 403 })
      expect(text).not.toContain('notes')
      expect(await line(json)).toMatchObject({ code: '42501', statement: expect.stringContaining('insert into notes') })
    })

    it('a privilege that is missing is 500: that is the project’s mistake', async () => {
      const { json } = await run(await probe.signUp(), [{ text: 'select * from received' }])
      expect(json).toMatchObject({ error: 'internal_error', status: 500 })
      expect(await line(json)).toMatchObject({ code: '42501' })
    })

    it('a unique violation is 409, with either transaction', async () => {
      const person = await probe.signUp()
      const text = randomUUID()
      for (const as of ['caller', 'service'] as const) {
        const insert = {
          text: `insert into notes (owner, text) values ('${person.id}', $1)`,
          values: [`${text} ${as}`],
        }
        expect((await run(person, [insert], as)).status).toBe(200)
        const { json, text: body } = await run(person, [insert], as)
        expect(json).toMatchObject({ error: 'conflict', status: 409 })
        expect(body).not.toMatch(/notes|constraint|key/)
        expect(await line(json)).toMatchObject({ code: '23505', constraint: 'notes_text_key' })
      }
    })

    it('at COMMIT, a unique violation is 409 too, and another one 500', async () => {
      await probe.sql('create table once (id integer unique deferrable initially deferred)')
      await probe.sql('alter table once enable row level security')
      await probe.sql('create policy anyone on once using (true) with check (true)')
      await probe.sql('grant select, insert on once to backend_authenticated')
      const person = await probe.signUp()
      const insert = { text: 'insert into once values (1)' }
      const { json } = await run(person, [insert, insert])
      expect(json).toMatchObject({ error: 'conflict', status: 409 })
      const { cause } = await line(json)
      expect(cause).toMatchObject({ code: '23505', constraint: 'once_id_key', statement: 'COMMIT' })
      expect(await probe.sql('select * from once')).toEqual([])
    })

    it.each(['40001', '40P01'])('%s is 503, to be tried again in a second', async (code) => {
      const answer = await run(await probe.signUp(), [{ text: raise(code) }])
      expect([answer.status, answer.json.error, answer.headers.get('retry-after')]).toEqual([503, 'unavailable', '1'])
      expect(answer.text).not.toContain('secret')
    })

    it.each(['23503', '23514', '22012', 'P0001', '28000'])('%s is 500', async (code) => {
      const { json, text } = await run(await probe.signUp(), [{ text: raise(code) }])
      expect([json.status, json.error, text.includes('secret')]).toEqual([500, 'internal_error', false])
    })

    it('a handler that catches it answers as it likes, but its transaction is not kept', async () => {
      const answer = await probe.call(`/sql/swallow/${randomUUID()}`, {
        method: 'POST',
        token: (await probe.signUp()).token,
      })
      expect(answer.json).toMatchObject({ error: 'internal_error', status: 500 })
    })
  })

  it('what is refused at COMMIT is 500, never 200', async () => {
    const person = await probe.signUp()
    const answer = await probe.call('/sql/late/1', { method: 'POST', token: person.token })
    expect(answer.json).toMatchObject({ error: 'internal_error', status: 500 })
    expect(await probe.sql('select id from late')).toEqual([])
  })

  it('$asService is a second connection with the same claims', async () => {
    const person = await probe.signUp()
    expect((await probe.call('/sql/both', { token: person.token })).json).toEqual({
      user: person.id,
      caller: { uid: person.id, role: 'backend_authenticated' },
      service: { uid: person.id, role: 'backend_service_role' },
    })
  })

  it('queries of one handler may run side by side', async () => {
    const { token } = await probe.signUp()
    expect((await probe.call('/sql/parallel', { token })).json).toEqual([1, 2, 3, 4])
  })

  it('values arrive as the types people expect', async () => {
    const { token } = await probe.signUp()
    expect((await probe.call('/sql/types', { token })).json).toEqual({
      int: 1,
      big: '2',
      float: 1.5,
      bool: true,
      text: 'x',
      nothing: null,
      json: { a: [1] },
      list: [1, 2],
      time: '2026-01-02T03:04:05.000Z',
    })
  })

  it('a public route may wait before it asks the database', async () => {
    expect((await probe.call('/request/later')).json).toEqual([{ one: 1 }])
  })

  it('nothing stays open: no connection is idle in a transaction afterwards', async () => {
    // A transaction that only read commits after the response.
    const idle = () => probe.sql(`select pid from pg_stat_activity where state like 'idle in transaction%'`)
    await expect.poll(idle, { timeout: 5_000 }).toEqual([])
  })
})
