/** Accounts over HTTP: sign-up with the project's hook, sessions and their end, guests, passwords, consents, the audit trail. */
import { describe, expect, it } from 'vitest'
import { useStack } from '../../support/stack.ts'

const shop = useStack('examples/orders')

const management = '/v1/management/auth'
const password = 'correct horse battery'
const asService = () => ({ apikey: shop.stack.record.service_role_key })
const settings = (json: object) => shop.call(`${management}/settings`, { method: 'PUT', json, headers: asService() })
const address = () => `${crypto.randomUUID()}@example.com`
const signUp = (json: object) => shop.call('/auth/sign-up', { json: { email: address(), password, ...json } })
const signIn = (email: string, given = password, headers: Record<string, string> = {}) =>
  shop.call('/auth/sign-in/password', { json: { email, password: given }, headers })
const refresh = (refresh_token: string) => shop.call('/auth/token/refresh', { json: { refresh_token } })
const eventsOf = (id: string) =>
  shop.sql<{ event_type: string; outcome: string; request_id: string; ip: string | null }>(
    'select event_type, outcome, request_id, host(ip) as ip from auth.audit where target_id = $1 order by id',
    [id],
  )
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())

/** Guests have no refresh of their own name in the answers' user. */
async function guest(): Promise<{ id: string; token: string; refreshToken: string }> {
  const { status, json } = await shop.call('/auth/anonymous', { method: 'POST' })
  expect(status).toBe(200)
  return { id: json.user.id, token: json.access_token, refreshToken: json.refresh_token }
}

describe('the account', () => {
  it('is read as the database has it now', async () => {
    const { id, email, token } = await shop.signUp()
    await shop.sql('update auth.users set email_confirmed_at = now() where id = $1', [id])
    const { status, json } = await shop.call('/auth/user', { token })
    expect([status, json]).toEqual([
      200,
      { id, email, email_verified: true, phone: null, is_anonymous: false, created_at: expect.stringMatching(/Z$/) },
    ])
    expect((await shop.call('/auth/user')).status).toBe(401)
  })

  it('that is deleted is refused on the next request, and its address is free again', async () => {
    const { id, email, token, refreshToken } = await shop.signUp()
    expect((await shop.call('/auth/user', { method: 'DELETE' })).status).toBe(401)
    expect((await shop.call('/auth/user', { method: 'DELETE', token })).status).toBe(204)
    expect((await shop.call('/orders', { token })).status).toBe(401)
    expect((await refresh(refreshToken)).status).toBe(401)
    expect((await signIn(email)).json.error).toBe('invalid_credentials')
    expect((await signUp({ email })).status).toBe(200)
    expect((await eventsOf(id)).map(({ event_type }) => event_type)).toContain('user.deleted')
  })

  it('that is disabled signs in no more, refreshes no more, and its session ends', async () => {
    const { id, email, refreshToken, token } = await shop.signUp()
    await shop.sql('update auth.users set disabled_at = now() where id = $1', [id])
    expect((await signIn(email)).json).toMatchObject({ error: 'user_disabled', status: 403 })
    expect((await signIn(email, 'wrong password')).json.error).toBe('invalid_credentials')
    expect((await refresh(refreshToken)).json).toMatchObject({ error: 'invalid_refresh_token', status: 401 })
    expect((await shop.call('/orders', { token })).status).toBe(401)
  })
})

describe('2.14 sign-up and the hook of the project', () => {
  const hook = (body: string) =>
    shop.sql(`create or replace function public.user_created(user_id text, email text, data jsonb) returns void
      language plpgsql security definer set search_path = '' as $$ begin ${body} end $$`)
  const unhook = () => shop.sql('drop function public.user_created(text, text, jsonb)')

  it('makes what the project asks for in the transaction of the user, with the data of the sign-up', async () => {
    await shop.sql('create table if not exists public.profiles (user_id text primary key, name text unique)')
    await hook(`insert into public.profiles values (user_id, data ->> 'name');
      perform 1 from auth.user_roles held where held.user_id = user_created.user_id;
      if not found then raise exception 'the default role comes first'; end if;`)
    const { json } = await signUp({ data: { name: 'ada' } })
    expect(await shop.sql('select name from public.profiles where user_id = $1', [json.user.id])).toEqual([
      { name: 'ada' },
    ])
    const four = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const email = address()
        return { email, status: (await signUp({ email, data: { name: 'grace' } })).status }
      }),
    )
    expect(four.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
    const strays = await shop.sql('select from auth.users where email = any ($1)', [
      four.map(({ email }) => email).filter((_, index) => four[index]!.status !== 200),
    ])
    expect(strays).toEqual([])
    await unhook()
  })

  it('refuses with the message that the project raises, and leaves no user', async () => {
    await hook(`raise exception 'members only' using errcode = 'P0001';`)
    const email = address()
    const refused = await signUp({ email })
    expect(refused.json).toMatchObject({ error: 'sign_up_refused', error_description: 'members only', status: 422 })
    expect(await shop.sql('select from auth.users where email = $1', [email])).toEqual([])
    await hook(`raise exception 'a secret of the database' using errcode = 'P0002';`)
    const failed = await signUp({ email })
    expect([failed.status, failed.text.includes('secret')]).toEqual([500, false])
    await unhook()
  })

  it('hears of a known address too, and nothing of that is kept', async () => {
    const { email } = await shop.signUp()
    await shop.sql('create table if not exists public.heard (email text)')
    await hook('insert into public.heard values (email);')
    const before = await shop.sql<{ count: string }>('select count(*) from auth.users')
    expect((await signUp({ email })).json.error).toBe('email_taken')
    expect(await shop.sql('select from public.heard')).toEqual([])
    expect(await shop.sql('select count(*) from auth.users')).toEqual(before)
    await hook(`raise exception 'members only';`)
    expect((await signUp({ email })).json.error).toBe('sign_up_refused')
    await unhook()
  })

  it.each([
    ['a list', []],
    ['over 4 KiB', { text: 'x'.repeat(4_090) }],
  ])('refuses data that is %s', async (_what, data) => {
    expect((await signUp({ data })).json).toMatchObject({ error: 'invalid_request', status: 400 })
  })

  it('is switched off by sign_up_enabled: false, also for guests', async () => {
    await settings({ sign_up_enabled: false })
    expect((await signUp({})).json).toMatchObject({ error: 'sign_up_disabled', status: 403 })
    expect((await shop.call('/auth/anonymous', { method: 'POST' })).json.error).toBe('sign_up_disabled')
    await settings({})
    expect((await signUp({})).status).toBe(200)
  })
})

describe('3.8 the token hook', () => {
  const hook = (body: string) =>
    shop.sql(`create or replace function public.token_claims(user_id text) returns jsonb
      language plpgsql security definer set search_path = '' as $$ begin ${body} end $$`)
  const unhook = () => shop.sql('drop function public.token_claims(text)')

  it('decides custom_claims, anew at each refresh', async () => {
    await hook(`return jsonb_build_object('plan', 'free', 'of', user_id);`)
    const { json } = await signUp({})
    expect(claimsOf(json.access_token).custom_claims).toEqual({ plan: 'free', of: json.user.id })
    await hook(`return '{"plan": "paid"}';`)
    expect(claimsOf((await refresh(json.refresh_token)).json.access_token).custom_claims).toEqual({ plan: 'paid' })
    await unhook()
  })

  it.each([
    ['raises', `raise exception 'no';`],
    ['gives a list', `return '[]';`],
    ['gives null', 'return null;'],
    ['gives more than 4 KiB', `return jsonb_build_object('x', repeat('x', 5000));`],
    ['takes over two seconds', `perform pg_sleep(3); return '{}';`],
  ])('that %s issues no token: 500 hook_failed', async (_what, body) => {
    const { email } = await shop.signUp()
    await hook(body)
    const { json } = await signIn(email)
    expect(json).toMatchObject({ error: 'hook_failed', status: 500 })
    expect(Object.keys(json).sort()).toEqual(['error', 'error_description', 'request_id', 'status'])
    await unhook()
    expect((await signIn(email)).status).toBe(200)
  })
})

describe('sessions', () => {
  it('are listed for their owner alone, the newest first, the current one named', async () => {
    const person = await shop.signUp()
    const second = (await signIn(person.email, person.password, { 'user-agent': 'a telephone' })).json
    await shop.signUp()
    const { json } = await shop.call('/auth/sessions', { token: second.access_token })
    expect(json.data.map(({ is_current, user_agent }: Record<string, unknown>) => [is_current, user_agent])).toEqual([
      [true, 'a telephone'],
      [false, expect.anything()],
    ])
    expect(json.data[0]).toMatchObject({
      id: expect.stringMatching(/^ses_/),
      aal: 'aal1',
      amr: ['pwd'],
      ip: '127.0.0.1',
    })
  })

  it('end one by one; another user’s is not found', async () => {
    const person = await shop.signUp()
    const other = await shop.signUp()
    const own = (await shop.call('/auth/sessions', { token: person.token })).json.data[0].id
    expect((await shop.call(`/auth/sessions/${own}`, { method: 'DELETE', token: other.token })).json.error).toBe(
      'session_not_found',
    )
    expect((await shop.call('/orders', { token: person.token })).status).toBe(200)
    const second = (await signIn(person.email, person.password)).json.access_token
    expect((await shop.call(`/auth/sessions/${own}`, { method: 'DELETE', token: second })).status).toBe(204)
    expect((await shop.call(`/auth/sessions/${own}`, { method: 'DELETE', token: second })).status).toBe(204)
    expect((await shop.call('/orders', { token: person.token })).status).toBe(401)
    expect((await shop.call('/orders', { token: second })).status).toBe(200)
  })

  it.each([
    ['local', [401, 200, 200], 1],
    ['others', [200, 401, 401], 2],
    ['all', [401, 401, 401], 3],
  ])('sign-out %s ends what it says, at once', async (scope, expected, ended) => {
    const person = await shop.signUp()
    const more = [await signIn(person.email), await signIn(person.email)].map(({ json }) => json)
    const { json } = await shop.call('/auth/sign-out', { token: person.token, json: { scope } })
    expect(json).toEqual({ ended })
    const tokens = [person.token, ...more.map(({ access_token }) => access_token)]
    const statuses = await Promise.all(tokens.map(async (token) => (await shop.call('/orders', { token })).status))
    expect(statuses).toEqual(expected)
    const refreshes = [person.refreshToken, ...more.map(({ refresh_token }) => refresh_token)]
    expect(await Promise.all(refreshes.map(async (token) => (await refresh(token)).status))).toEqual(expected)
  })

  it('that have ended are no token at all where none is needed: their owner signs in again, with the old token beside', async () => {
    const { email, token } = await shop.signUp()
    await shop.call('/auth/sign-out', { token, json: { scope: 'all' } })
    const again = await shop.call('/auth/sign-in/password', { token, json: { email, password } })
    expect(again.status).toBe(200)
    expect((await shop.call('/auth/user', { token })).status).toBe(401)
    expect((await shop.call('/orders', { token })).status).toBe(401)
  })

  it('sign-out asks for a session, and for a scope that there is', async () => {
    expect((await shop.call('/auth/sign-out', { json: {} })).status).toBe(401)
    const { token } = await shop.signUp()
    expect((await shop.call('/auth/sign-out', { token, json: { scope: 'none' } })).json.error).toBe('invalid_request')
  })
})

describe('3.4 guests', () => {
  it('have a verified session that signs nobody in, without an address in the token', async () => {
    const { id, token, refreshToken } = await guest()
    const claims = claimsOf(token)
    expect([claims.role, claims.sub, 'email' in claims, claims.email_verified]).toEqual(['anon', id, false, false])
    expect((await shop.call('/orders', { token })).status).toBe(401)
    expect((await shop.call('/auth/user', { token })).json).toMatchObject({ id, is_anonymous: true, email: null })
    expect(claimsOf((await refresh(refreshToken)).json.access_token).role).toBe('anon')
    expect(await shop.sql('select from auth.user_roles where user_id = $1', [id])).toEqual([])
    expect((await shop.call('/auth/sign-out', { token, json: {} })).json).toEqual({ ended: 1 })
    expect((await refresh(refreshToken)).status).toBe(401)
  })

  it('become an account with the same id and the default role; of thirty upgrades at once one wins', async () => {
    const { id, token, refreshToken } = await guest()
    const upgrade = (email: string) => shop.call('/auth/upgrade', { token, json: { email, password } })
    const answers = await Promise.all(Array.from({ length: 30 }, () => upgrade(address())))
    const won = answers.filter(({ status }) => status === 200)
    expect(won).toHaveLength(1)
    expect(answers.filter(({ status }) => status !== 200).map(({ json }) => json.error)).toEqual(
      expect.arrayContaining(['not_anonymous']),
    )
    const { user, access_token } = won[0]!.json
    expect([user.id, user.is_anonymous, claimsOf(access_token).role]).toEqual([id, false, 'authenticated'])
    expect(await shop.sql('select role from auth.user_roles where user_id = $1', [id])).toEqual([{ role: 'customer' }])
    expect((await shop.call('/orders', { token: access_token })).status).toBe(200)
    expect((await signIn(user.email)).status).toBe(200)
    expect((await refresh(refreshToken)).status).toBe(401)
  })

  it('take no address that is taken, and an account is no guest', async () => {
    const { email, token: account } = await shop.signUp()
    const { token } = await guest()
    const upgrade = (as: string, to: string) => shop.call('/auth/upgrade', { token: as, json: { email: to, password } })
    expect((await upgrade(token, email)).json).toMatchObject({ error: 'email_taken', status: 409 })
    expect((await upgrade(account, address())).json).toMatchObject({ error: 'not_anonymous', status: 409 })
    expect((await shop.call('/auth/upgrade', { json: { email: address(), password } })).status).toBe(401)
  })
})

describe('passwords', () => {
  it('change with the current one, and every other session ends', async () => {
    const person = await shop.signUp()
    const other = (await signIn(person.email, person.password)).json
    const change = (current_password: string, next: string) =>
      shop.call('/auth/password/change', { token: person.token, json: { current_password, password: next } })
    expect((await change('wrong password', 'another password')).json.error).toBe('invalid_credentials')
    expect((await change(person.password, 'short')).json).toMatchObject({ error: 'invalid_password', status: 400 })
    expect((await change(person.password, 'another password')).status).toBe(204)
    expect((await shop.call('/orders', { token: other.access_token })).status).toBe(401)
    expect((await shop.call('/orders', { token: person.token })).status).toBe(200)
    expect((await signIn(person.email, person.password)).status).toBe(401)
    expect((await signIn(person.email, 'another password')).status).toBe(200)
  })

  it('under current parameters keep their hash at the next sign-in', async () => {
    const { id, email } = await shop.signUp()
    const phc = async () =>
      (await shop.sql<{ phc: string }>('select phc from auth.password_credentials where user_id = $1', [id]))[0]!.phc
    const before = await phc()
    expect((await signIn(email)).status).toBe(200)
    expect(await phc()).toBe(before)
  })

  it('are counted by account: the sixth wrong one waits, without a hash, and no open session is closed', async () => {
    const person = await shop.signUp()
    const answers = []
    for (let attempt = 0; attempt < 8; attempt++) answers.push(await signIn(person.email, 'wrong password'))
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429, 429, 429])
    const last = answers.at(-1)!
    expect(last.json.error).toBe('rate_limited')
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(100)
    expect((await signIn(person.email, person.password)).status).toBe(429)
    expect((await shop.call('/orders', { token: person.token })).status).toBe(200)
    expect((await refresh(person.refreshToken)).status).toBe(200)
    await shop.sql('delete from auth.rate_limits')
    expect((await signIn(person.email, person.password)).status).toBe(200)
  })

  it('that are right forget the wrong ones', async () => {
    const { email } = await shop.signUp()
    for (let round = 0; round < 3; round++) {
      for (let attempt = 0; attempt < 4; attempt++) expect((await signIn(email, 'wrong password')).status).toBe(401)
      expect((await signIn(email)).status).toBe(200)
    }
  })

  it('for an unknown address are counted alike', async () => {
    const email = address()
    const statuses = []
    for (let attempt = 0; attempt < 6; attempt++) statuses.push((await signIn(email)).status)
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429])
  })

  it('are counted by network too: an IPv4 address, or the first half of an IPv6 address', async () => {
    const attempt = (ip: string) => signIn(address(), password, { 'cf-connecting-ip': ip })
    const from = async (ips: string[]) => (await Promise.all(ips.map(attempt))).map(({ status }) => status).sort()
    expect(await from(Array(11).fill('203.0.113.7'))).toEqual([...Array(10).fill(401), 429])
    expect(await from(['203.0.113.8'])).toEqual([401])
    const addresses = Array.from({ length: 11 }, (_, index) => `2001:db8:1:2::${index}`)
    expect(await from(addresses)).toEqual([...Array(10).fill(401), 429])
    expect(await from(['2001:db8:1:3::1'])).toEqual([401])
  })

  it('limits are settings', async () => {
    await settings({ rate_limits: { sign_in_per_account: { attempts: 2, seconds: 60 } } })
    const email = address()
    const statuses = []
    for (let attempt = 0; attempt < 3; attempt++) statuses.push((await signIn(email)).status)
    expect(statuses).toEqual([401, 401, 429])
    for (const wrong of [{ nothing: {} }, { sign_in_per_account: { attempts: 0, seconds: 1 } }, [], null]) {
      expect((await settings({ rate_limits: wrong })).json.error).toBe('invalid_settings')
    }
    await settings({})
  })
})

describe('consents', () => {
  it('are recorded by document and version, withdrawn, and given again', async () => {
    const { id, token } = await shop.signUp()
    const grant = (version: string) => shop.call('/auth/consents', { token, json: { document: 'terms', version } })
    const list = async () =>
      (await shop.call('/auth/consents', { token })).json.data.map((one: Record<string, unknown>) => [
        one['version'],
        one['withdrawn_at'] !== null,
      ])
    expect([(await grant('1')).status, (await grant('1')).status, (await grant('2')).status]).toEqual([204, 204, 204])
    expect((await list()).sort()).toEqual([
      ['1', false],
      ['2', false],
    ])
    expect((await shop.call('/auth/consents/terms', { method: 'DELETE', token })).status).toBe(204)
    expect((await list()).sort()).toEqual([
      ['1', true],
      ['2', true],
    ])
    await grant('2')
    expect((await list()).sort()).toEqual([
      ['1', true],
      ['2', false],
    ])
    expect((await eventsOf(id)).map(({ event_type }) => event_type)).toEqual([
      'user.signed_up',
      'user.signed_in',
      'consent.granted',
      'consent.granted',
      'consent.withdrawn',
      'consent.granted',
    ])
    expect((await shop.call('/auth/consents', { token, json: { document: 'No Name', version: '1' } })).json.error).toBe(
      'invalid_request',
    )
    expect((await shop.call('/auth/consents', { json: { document: 'terms', version: '1' } })).status).toBe(401)
  })
})

describe('9.15 signing keys', () => {
  const rotate = () => shop.call(`${management}/keys/signing/rotate`, { method: 'POST', headers: asService() })
  const keySet = async () =>
    (await shop.call('/auth/.well-known/jwks.json')).json.keys.map(({ kid }: { kid: string }) => kid)
  const kidOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid

  it('a rotation publishes the next key ten minutes before it signs, and the old one until its last token has expired', async () => {
    const person = await shop.signUp()
    const old = kidOf(person.token)
    const { status, json } = await rotate()
    expect([status, json.previous_kid, json.kid === old]).toEqual([200, old, false])
    expect(Date.parse(json.signs_from) - Date.now()).toBeGreaterThan(590_000)
    expect((await rotate()).json).toEqual(json)
    expect(await keySet()).toEqual(expect.arrayContaining([old, json.kid]))
    expect(kidOf((await refresh(person.refreshToken)).json.access_token)).toBe(old)
    await shop.sql(`update auth.signing_keys set activate_at = activate_at - interval '10 minutes' where kid = $1`, [
      json.kid,
    ])
    const next = (await signIn(person.email)).json.access_token
    expect(kidOf(next)).toBe(json.kid)
    expect((await shop.call('/orders', { token: person.token })).status).toBe(200)
    expect(await keySet()).toContain(old)
    await shop.sql(`update auth.signing_keys set activate_at = activate_at - interval '26 minutes'`)
    expect(await keySet()).not.toContain(old)
    expect(await keySet()).toContain(json.kid)
  })

  it('rotations at once decide once', async () => {
    await shop.sql(`update auth.signing_keys set created_at = created_at - interval '1 hour' where activate_at is null`)
    const answers = await Promise.all(Array.from({ length: 20 }, rotate))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const waiting = await shop.sql('select kid from auth.signing_keys where activate_at is null')
    expect(waiting).toHaveLength(1)
  })
})

describe('9.16 the audit trail', () => {
  it('has an entry of each event in the transaction that caused it', async () => {
    const person = await shop.signUp()
    const failed = await signIn(person.email, 'wrong password')
    await signIn(person.email)
    const events = await eventsOf(person.id)
    expect(events.map(({ event_type, outcome }) => [event_type, outcome])).toEqual([
      ['user.signed_up', 'success'],
      ['user.signed_in', 'success'],
      ['user.sign_in_failed', 'failure'],
      ['user.signed_in', 'success'],
    ])
    expect(events[2]).toMatchObject({ request_id: failed.json.request_id, ip: '127.0.0.1' })
  })

  it('is pruned past its retention, of which seven days are the least', async () => {
    const insert = (id: string, days: number) =>
      shop.sql(`insert into stack.audit (id, occurred_at, event_type, outcome, actor_type)
        values ('aud_${id.padStart(26, '0')}', now() - interval '${days} days', 'user.signed_in', 'success', 'system')`)
    await insert('1', 91)
    await insert('2', 89)
    await insert('3', 6)
    const kept = async () =>
      (await shop.sql<{ id: string }>(`select id from auth.audit where id like 'aud_00000000%' order by id`)).map(
        ({ id }) => id.at(-1),
      )
    await shop.sql('set local role auth_admin; select auth.prune_audit()')
    expect(await kept()).toEqual(['2', '3'])
    await shop.sql(`update auth.settings set document = '{"audit_retention_days": 1}'`)
    await shop.sql('set local role auth_admin; select auth.prune_audit()')
    expect(await kept()).toEqual(['3'])
    await settings({})
  })
})

describe('2.12 scheduled work of the auth module', () => {
  const run = (name: string) =>
    shop.call('/cdn-cgi/stack/cron', { method: 'POST', headers: asService(), json: { name } })

  it('rotates a signing key that has signed for long enough, and no other', async () => {
    const coming = () => shop.sql('select from auth.signing_keys where activate_at > now()')
    await shop.sql(
      `update auth.signing_keys set activate_at = now() - interval '89 days' where activate_at is not null`,
    )
    expect((await run('SigningKeys.maintain')).json).toMatchObject({ outcome: 'finished' })
    expect(await coming()).toEqual([])
    await shop.sql(`update auth.signing_keys set created_at = now(), activate_at = activate_at - interval '2 days'`)
    expect((await run('SigningKeys.maintain')).json).toMatchObject({ outcome: 'finished' })
    expect(await coming()).toHaveLength(1)
  })

  it('forgets what no request can need', async () => {
    const { id } = await shop.signUp()
    await shop.sql(`insert into auth.rate_limits (bucket, level, is_admitted, updated_at, empty_at)
      values ('old', 0, true, now(), now() - interval '1 s'), ('new', 0, true, now(), now() + interval '1 hour')`)
    await shop.sql(
      `insert into auth.mfa_challenges (id, user_id, amr, expires_at) values ('chl_old', $1, '[]', now() - interval '1 s')`,
      [id],
    )
    await shop.sql(
      `insert into auth.sessions (id, user_id, expires_at) values ('ses_old', $1, now() - interval '31 days'),
      ('ses_new', $1, now() - interval '29 days')`,
      [id],
    )
    for (const name of ['Limits.forgetEmpty', 'Challenges.forgetExpired', 'Sessions.forgetEnded', 'Audit.prune']) {
      expect((await run(name)).json).toMatchObject({ name, outcome: 'finished' })
    }
    expect(await shop.sql(`select bucket from auth.rate_limits where bucket in ('old', 'new')`)).toEqual([
      { bucket: 'new' },
    ])
    expect(await shop.sql(`select from auth.mfa_challenges where id = 'chl_old'`)).toEqual([])
    expect(await shop.sql(`select id from auth.sessions where id in ('ses_old', 'ses_new')`)).toEqual([
      { id: 'ses_new' },
    ])
  })
})
