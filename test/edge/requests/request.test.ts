/** A request through the real bundle: gates at every level, injectors, results, the two transactions (contract 2, 4, 5). */
import { randomUUID } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { describe, expect, it, vi } from 'vitest'
import { type Person, useStack } from '../../support/stack.ts'

const probe = useStack('test/edge/probe', { PROBE_SECRET: 'äöü' })

const notes = () => probe.sql<{ text: string }>('select text from notes').then((rows) => rows.map(({ text }) => text))

/** Statements that a handler runs, as one that is open to injection would. */
function run(person: Person, statements: { text: string; values?: unknown[] }[], as: 'caller' | 'service' = 'caller') {
  return probe.call(`/sql/${as}`, { token: person.token, json: statements })
}

describe('4.3 the most specific rule wins, whole', () => {
  const enter = (path: string, person?: Person) => probe.call(path, person ? { token: person.token } : {})

  it('the application default gates a controller that declares nothing', async () => {
    const person = await probe.signUp()
    expect((await enter('/default')).status).toBe(401)
    expect((await enter('/default', person)).json.error_description).toBe(
      'this route requires the permission "probe.enter"',
    )
    await probe.role('PUT', person.id, 'insider')
    expect((await enter('/default', person)).json).toBe('entered')
  })

  it('a controller’s rule replaces the default, a route’s rule replaces its controller’s', async () => {
    const person = await probe.signUp()
    expect((await enter('/gates/controller', person)).json.error).toBe('email_not_verified')
    expect((await enter('/gates/signed-in', person)).status).toBe(200)
    expect((await enter('/gates/object', person)).status).toBe(200)
    expect((await enter('/gates/object')).status).toBe(401)
    expect((await enter('/gates/false')).json).toEqual({ user: null })
    expect((await enter('/gates/not-required')).json).toBe('entered')
  })

  it('4.5 `required: false` beside a condition admits no anonymous caller, and answers 403', async () => {
    expect((await enter('/open/permission')).json).toMatchObject({ error: 'forbidden', status: 403 })
    expect((await enter('/open/role')).json).toMatchObject({ error: 'forbidden', status: 403 })
    expect((await enter('/open/verified')).json).toMatchObject({ error: 'email_not_verified', status: 403 })
    const person = await probe.signUp()
    await probe.role('PUT', person.id, 'insider')
    expect((await enter('/open/role', person)).json).toBe('entered')
  })

  it('User() is the user of the token, with the roles of this moment', async () => {
    const person = await probe.signUp()
    await probe.role('PUT', person.id, 'insider')
    expect((await enter('/gates/signed-in', person)).json).toEqual({
      id: person.id,
      email: person.email,
      role: 'authenticated',
      emailVerified: false,
      metadata: {},
      roles: ['insider'],
      device: null,
    })
  })
})

describe('2.3 arguments and results', () => {
  it('each injector gives what it names', async () => {
    const answer = await probe.call('/request/injected/a%20b/c%2Fd?page=2&page=3', { headers: { 'x-probe': 'yes' } })
    const id = answer.headers.get('x-request-id')
    expect(answer.json).toEqual({
      first: 'a b',
      second: 'c/d',
      page: '2',
      header: 'yes',
      method: 'GET',
      id,
      trace: id,
      client: true,
    })
    expect((await probe.call('/request/injected/literal/x')).json).toEqual({ only: 'x' })
    expect((await probe.call('/request/injected/%ff/x')).json).toMatchObject({ error: 'invalid_request' })
  })

  describe('a character that no database can hold is 400, naming the field', () => {
    const reason = 'the text holds a character that cannot be stored: U+0000, or half of a surrogate pair'

    it.each([
      ['first', '/request/injected/a%00b/c'],
      ['second', '/request/injected/a/c%00'],
      ['page', '/request/injected/a/c?page=%00'],
    ])('%s of %s', async (path, target) => {
      const { json } = await probe.call(target)
      expect(json).toMatchObject({ error: 'invalid_request', status: 400, fields: [{ path, reason }] })
    })

    it.each([
      ['body', '"\\u0000"'],
      ['body', '"\\ud800"'],
      ['a', '{"a":"x\\u0000"}'],
      ['a.b.1', '{"a":{"b":["x","\\u0000"]}}'],
      ['a', '{"a":{"\\u0000":1}}'],
      ['0', `["\\u0000",${'['.repeat(20_000)}${']'.repeat(20_000)}]`],
    ])('%s of the body %.40s', async (path, body) => {
      const { json } = await probe.call('/request/echo', { body, headers: { 'content-type': 'application/json' } })
      expect(json).toMatchObject({ error: 'invalid_request', status: 400, fields: [{ path, reason }] })
    })

    it.each(['"\\ud83d\\ude00"', '"\\u0001"', '"\\\\u0000"', '{"a":"\\u00e9"}'])('%s is none', async (body) => {
      const answer = await probe.call('/request/echo', { body, headers: { 'content-type': 'application/json' } })
      expect([answer.status, answer.json]).toEqual([202, JSON.parse(body)])
    })
  })

  it('a Response is sent as it is, undefined is 204, anything else is JSON with the route’s status', async () => {
    const own = await probe.call('/request/response')
    expect([own.status, own.text, own.headers.get('x-own')]).toEqual([418, 'as it is', 'yes'])
    expect(own.headers.get('x-request-id')).toMatch(/^req_/)
    const nothing = await probe.call('/request/nothing')
    expect([nothing.status, nothing.text]).toEqual([204, ''])
    expect((await probe.call('/request/null')).text).toBe('null')
    const echo = await probe.call('/request/echo', { json: { __proto__: 1, a: [1, null] } })
    expect([echo.status, echo.text]).toEqual([202, '{"a":[1,null]}'])
  })

  it('HttpError becomes the envelope; any other error is 500 with nothing of its reason', async () => {
    const refused = await probe.call('/request/refusal')
    expect(refused.json).toMatchObject({ error: 'taken', status: 409, fields: [{ path: 'name', reason: 'taken' }] })
    const failed = await probe.call('/request/throw')
    expect(failed.json).toMatchObject({ error: 'internal_error', status: 500 })
    expect(failed.text).not.toContain('secret detail')
  })

  it.each(['header', 'body', 'nothing', 'function'])(
    'an answer that cannot be sent (%s) is the plain 500',
    async (what) => {
      const answer = await probe.call(`/request/unsendable/${what}`)
      expect(answer.json).toMatchObject({ error: 'internal_error', status: 500 })
      expect(answer.headers.get('x-request-id')).toBe(answer.json.request_id)
    },
  )

  describe('2.5 Auth', () => {
    it('assigns, twice as once, and revokes; both are in force on the next request with the same token', async () => {
      const person = await probe.signUp()
      const enter = () => probe.call('/open/role', { token: person.token })
      const role = (method: string, name = 'insider') => probe.call(`/request/roles/${person.id}/${name}`, { method })
      expect((await enter()).status).toBe(403)
      expect((await role('PUT')).json).toContain('insider')
      expect((await enter()).status).toBe(200)
      expect((await role('DELETE')).json).not.toContain('insider')
      expect((await enter()).status).toBe(403)
      expect((await role('DELETE', 'nobody')).json).toEqual({ undefined: 'nobody' })
    })

    it('an error that the handler does not catch is a 500, and in the log', async () => {
      const undeclared = await probe.call('/request/roles/usr_1/nobody', { method: 'PUT' })
      expect([undeclared.status, undeclared.json.error]).toEqual([500, 'internal_error'])
      const unknown = await probe.call('/request/roles/usr_1/insider', { method: 'PUT' })
      expect(unknown.status).toBe(500)
      const line = await probe.logged(
        ({ request_id, level }) => request_id === unknown.json.request_id && level === 'error',
      )
      expect(line['error']).toBe('TransportError: user_not_found: there is no user "usr_1"')
    })
  })

  it('2.5 Storage keeps what is put, in the stack’s own folder', async () => {
    expect((await probe.call('/request/stored')).json).toEqual({
      text: 'stored',
      type: 'text/plain',
      missing: null,
      listed: [['notes/a b.txt', 6]],
      left: false,
    })
    expect(fs.existsSync(path.join(probe.root, '.stack/storage'))).toBe(true)
  })

  describe('6.1 who may keep an answer', () => {
    const headersOf = async (path: string, token?: string) => {
      const { headers } = await probe.call(path, token === undefined ? {} : { token })
      return ['cache-control', 'vary', 'x-content-type-options'].map((name) => headers.get(name))
    }

    it.each<[string, string | undefined, (string | null)[]]>([
      ['/request/nothing', undefined, ['no-store', 'authorization, origin', 'nosniff']],
      ['/request/response', undefined, [null, 'authorization, origin', 'nosniff']],
      ['/request/response', 'no token', ['no-store', 'authorization, origin', 'nosniff']],
      ['/request/cached', undefined, ['public, max-age=60', 'accept, authorization, origin', 'nosniff']],
      ['/request/cached', 'no token', ['public, max-age=60', 'accept, authorization, origin', 'nosniff']],
      ['/sql/hoarded', undefined, ['no-store', 'authorization, origin', 'nosniff']],
      ['/no/such/route', undefined, ['no-store', 'origin', 'nosniff']],
      ['/webhooks/nothing', undefined, ['no-store', null, 'nosniff']],
    ])('%s with %s', async (path, token, expected) => {
      expect(await headersOf(path, token)).toEqual(expected)
    })
  })

  it('3.3 a 401 of a route names the scheme, and says nothing more', async () => {
    const challengeOf = async (path: string, token?: string) => {
      const { status, headers } = await probe.call(path, token === undefined ? {} : { token })
      return [status, headers.get('www-authenticate')]
    }
    expect(await challengeOf('/gates/object')).toEqual([401, 'Bearer'])
    expect(await challengeOf('/gates/object', 'a.b.c')).toEqual([401, 'Bearer'])
    expect(await challengeOf('/request/refusal')).toEqual([409, null])
    const delivery = await probe.call('/webhooks/unset', { json: {} })
    expect([delivery.status, delivery.headers.get('www-authenticate')]).toEqual([401, null])
  })

  describe('a trace of the caller (W3C Trace Context)', () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
    const traced = async (traceparent: string, more: Record<string, string> = {}) => {
      const answer = await probe.call('/request/log', { headers: { traceparent, ...more } })
      const id = answer.headers.get('x-request-id')
      return { id, line: await probe.logged(({ request_id }) => request_id === id) }
    }

    it('is in the lines of the log, with a span of the request’s own', async () => {
      const { line } = await traced(`00-${trace}-00f067aa0ba902b7-01`)
      expect(line).toMatchObject({ trace_id: trace, span_id: expect.stringMatching(/^[0-9a-f]{16}$/) })
      expect(line['span_id']).not.toBe('00f067aa0ba902b7')
    })

    it.each([
      `00-${trace}-00f067aa0ba902b7-01-more`,
      `00-${trace.toUpperCase()}-00f067aa0ba902b7-01`,
      `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
      `00-${trace}-${'0'.repeat(16)}-01`,
      `ff-${trace}-00f067aa0ba902b7-01`,
      `00-${trace}-00f067aa0ba902b7`,
      'x',
    ])('that is malformed is none: %s', async (traceparent) => {
      expect((await traced(traceparent)).line).not.toHaveProperty('trace_id')
    })

    it('goes on to the auth worker; TraceId() stays the request’s own id', async () => {
      const person = await probe.signUp()
      const headers = { traceparent: `00-${trace}-00f067aa0ba902b7-00`, tracestate: 'vendor=1' }
      const { json } = await probe.call('/request/injected/a/b', { headers })
      expect([json.trace, json.trace.startsWith('req_')]).toEqual([json.id, true])
      // the auth worker writes a line where it fails
      await probe.sql('alter table auth.roles rename to roles_away')
      try {
        await probe.call(`/request/roles/${person.id}/insider`, { method: 'DELETE', headers })
      } finally {
        await probe.sql('alter table auth.roles_away rename to roles')
      }
      expect(await probe.logged(({ worker, trace_id }) => worker === 'auth' && trace_id === trace)).toMatchObject({
        level: 'error',
      })
    })
  })

  it('headers of an HttpError do not replace the runtime’s own', async () => {
    const { headers, json } = await probe.call('/request/unsendable/own')
    expect([headers.get('x-request-id'), headers.get('content-type'), headers.get('cache-control')]).toEqual([
      json.request_id,
      'application/json',
      'no-store',
    ])
  })

  it('Log writes what JSON has no form for, and no field poses as the line’s own', async () => {
    const { headers } = await probe.call('/request/log-error')
    const line = await probe.logged(({ message }) => message === 'it failed')
    expect(line).toMatchObject({ level: 'error', request_id: headers.get('x-request-id'), big: '1' })
    expect(line['error']).toMatchObject({ error: 'TypeError: the reason' })
  })

  it('a rejection that nobody awaits is in the log', async () => {
    expect((await probe.call('/request/lost')).json).toBe('ok')
    const line = await probe.logged(({ error }) => error === 'Error: nobody listens')
    expect(line).toMatchObject({ level: 'error', worker: 'backend' })
  })

  it('the stack in the log names file, line and column of the project, through the minified bundle', async () => {
    const { json } = await probe.call('/request/throw')
    const line = await probe.logged((entry) => entry['request_id'] === json.request_id && entry['level'] === 'error')
    const { createLogPrinter } = await import('../../../local/log.ts')
    const out = probe.stack.record && `${probe.root}/.stack/out`
    const printed = createLogPrinter({ backend: out }, process.stderr)(JSON.stringify(line))
    expect(printed).toContain('Error: a secret detail')
    const source = await import('node:fs').then((fs) =>
      fs.readFileSync(`${probe.root}/src/request.controller.ts`, 'utf8').split('\n'),
    )
    const number = source.findIndex((text) => text.includes("new Error('a secret detail')")) + 1
    expect(printed).toContain(`src/request.controller.ts:${number}:`)
  })

  it('instances are one per isolate', async () => {
    const first = (await probe.call('/request/served')).json
    expect((await probe.call('/request/served')).json).toBe(first + 1)
  })

  it('2.5 Secrets reads the environment, and throws for a name that is not set', async () => {
    expect((await probe.call('/request/secret')).json).toBe(3 + 6)
    expect((await probe.call('/request/unset')).status).toBe(500)
  })

  it('Log writes one JSON line with the request’s id', async () => {
    const { headers } = await probe.call('/request/log')
    const id = headers.get('x-request-id')
    const line = await probe.logged(({ message, request_id }) => message === 'said by a handler' && request_id === id)
    expect(line).toMatchObject({
      level: 'warn',
      worker: 'backend',
      line: 'one\ntwo',
    })
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
    // each in a request of its own: one that writes commits what another has left
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
    // a transaction that only read commits after its answer
    const idle = () => probe.sql(`select pid from pg_stat_activity where state like 'idle in transaction%'`)
    await expect.poll(idle, { timeout: 5_000 }).toEqual([])
  })
})
