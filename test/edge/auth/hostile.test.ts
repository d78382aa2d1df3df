/** What attackers of accounts try: races, stolen sessions, enumeration, limits, and SQL as the roles of the workers. */
import { createHmac } from 'node:crypto'
import pg from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
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
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms))
const guest = async () => (await shop.call('/auth/anonymous', { method: 'POST' })).json
const hook = (body: string) =>
  shop.sql(`create or replace function public.user_created(user_id text, email text, data jsonb) returns void
    language plpgsql security definer set search_path = '' as $$ begin ${body} end $$`)

function codeOf(secret: string, steps = 0): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = [...secret].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('')
  const key = Buffer.from(bits.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + steps))
  const digest = createHmac('sha1', key).update(counter).digest()
  const number = digest.readUInt32BE(digest.at(-1)! & 15) & 0x7fffffff
  return String(number % 1_000_000).padStart(6, '0')
}
async function enrol(token: string) {
  const { json } = await shop.call('/auth/mfa/totp/enrol', { token, json: {} })
  const done = await shop.call('/auth/mfa/totp/verify', {
    token,
    json: { factor_id: json.factor_id, code: codeOf(json.secret, -1) },
  })
  expect(done.status).toBe(200)
  return json as { factor_id: string; secret: string }
}

afterEach(async () => {
  await shop.sql('rollback')
  await shop.sql('drop function if exists public.user_created(text, text, jsonb)')
  await shop.sql('delete from auth.rate_limits')
  await settings({})
})

describe('the audit trail and the owner', () => {
  it('auth_admin, who owns the schema, cannot drop the entries', async () => {
    await expect(shop.sql('begin; set local role auth_admin; drop table stack.audit; rollback')).rejects.toMatchObject({
      code: '42501',
    })
  })
  it('auth_admin cannot run its code as the owner through prune_audit', async () => {
    const [row] = (await shop
      .sql(`begin; set local role auth_admin; alter table auth.settings rename to settings_kept;
      create function auth.evil() returns jsonb language plpgsql as $$ begin
        perform set_config('attack.ran_as', current_user || ' super=' || (select rolsuper from pg_roles where rolname = current_user), true); return '{}'; end $$;
      create view auth.settings as select auth.evil() as document; select auth.prune_audit();`)
      .then(() => shop.sql(`select current_setting('attack.ran_as', true) as ran_as`))) as { ran_as: string }[]
    expect(row!.ran_as).toMatch(/^auth_admin/)
  })
  it('a wrong first code has an entry', async () => {
    const { id, token } = await shop.signUp()
    const { json } = await shop.call('/auth/mfa/totp/enrol', { token, json: {} })
    await shop.call('/auth/mfa/totp/verify', { token, json: { factor_id: json.factor_id, code: '000000' } })
    expect(
      await shop.sql(`select from auth.audit where target_id = $1 and event_type = 'mfa.failed'`, [id]),
    ).toHaveLength(1)
  })
  it('a rotation that is under way is not recorded as another rotation', async () => {
    const rotate = () => shop.call(`${management}/keys/signing/rotate`, { method: 'POST', headers: asService() })
    await rotate()
    await shop.sql(`delete from stack.audit where event_type = 'key.rotated'`)
    await rotate()
    await rotate()
    expect(await shop.sql(`select from auth.audit where event_type = 'key.rotated'`)).toHaveLength(0)
  })
})

describe('enumeration where addresses must be confirmed', () => {
  it('an upgrade answers alike for a known and a new address', async () => {
    const known = await shop.signUp()
    await settings({ confirm_email_required: true })
    const upgrade = async (email: string) =>
      shop.call('/auth/upgrade', { token: (await guest()).access_token, json: { email, password } })
    expect((await upgrade(known.email)).status).toBe((await upgrade(address())).status)
  })
  it('a hook that keeps a unique address does not tell', async () => {
    await shop.sql(
      'create table if not exists public.unique_profiles (user_id text primary key references auth.users on delete cascade, email text unique)',
    )
    await hook('insert into public.unique_profiles values (user_id, email);')
    const email = address()
    expect((await signUp({ email })).status).toBe(200)
    await settings({ confirm_email_required: true })
    expect((await signUp({ email })).status).toBe((await signUp({})).status)
  })
})

describe('second factor', () => {
  it('a session that never proved the second factor cannot remove it', async () => {
    const person = await shop.signUp()
    const stolen = (await signIn(person.email)).json.access_token
    const { factor_id } = await enrol(person.token)
    expect((await shop.call('/auth/mfa/recovery-codes', { token: stolen, method: 'POST' })).status).toBe(403)
    expect((await shop.call(`/auth/mfa/${factor_id}`, { token: stolen, method: 'DELETE' })).status).toBe(403)
  })
  it('nor take the account over with recovery codes of its own', async () => {
    const person = await shop.signUp()
    const stolen = (await signIn(person.email)).json.access_token
    const { factor_id } = await enrol(person.token)
    const codes = (await shop.call('/auth/mfa/recovery-codes', { token: stolen, method: 'POST' })).json.recovery_codes
    const { challenge_id } = (await signIn(person.email)).json
    const done = await shop.call('/auth/mfa/challenge', { json: { challenge_id, recovery_code: codes?.[0] ?? 'none' } })
    const removed = await shop.call(`/auth/mfa/${factor_id}`, { token: stolen, method: 'DELETE' })
    expect([done.status, removed.status]).toEqual([401, 403])
  })
  it('a challenge of the old password ends with the password', async () => {
    const person = await shop.signUp()
    const { secret } = await enrol(person.token)
    const { challenge_id } = (await signIn(person.email)).json
    const change = await shop.call('/auth/password/change', {
      token: person.token,
      json: { current_password: password, password: 'another password' },
    })
    expect(change.status).toBe(204)
    const done = await shop.call('/auth/mfa/challenge', { json: { challenge_id, code: codeOf(secret) } })
    expect(done.status).toBe(401)
  })
  it('amr names each method once', async () => {
    const person = await shop.signUp()
    const factor = await shop.call('/auth/mfa/totp/enrol', { token: person.token, json: {} })
    const verified = await shop.call('/auth/mfa/totp/verify', {
      token: person.token,
      json: { factor_id: factor.json.factor_id, code: codeOf(factor.json.secret, -1) },
    })
    const { challenge_id } = (await signIn(person.email)).json
    const { json } = await shop.call('/auth/mfa/challenge', {
      json: { challenge_id, recovery_code: verified.json.recovery_codes[0] },
    })
    await shop.call('/auth/mfa/step-up', { token: json.access_token, json: { code: codeOf(factor.json.secret) } })
    const { amr } = claimsOf((await refresh(json.refresh_token)).json.access_token)
    expect(amr).toEqual([...new Set(amr)])
  })
})

describe('races and ends', () => {
  it('a sign-in with the old password that is under way does not outlive the change', async () => {
    const person = await shop.signUp()
    await shop.sql('begin')
    await shop.sql('select from auth.users where id = $1 for no key update', [person.id])
    const late = signIn(person.email)
    await sleep(1500)
    const change = await shop.call('/auth/password/change', {
      token: person.token,
      json: { current_password: password, password: 'another password' },
    })
    expect(change.status).toBe(204)
    await shop.sql('commit')
    const { status, json } = await late
    const works = status === 200 ? (await refresh(json.refresh_token)).status : status
    expect([status, works]).toEqual([401, 401])
  })
  it('a sign-in while the account is deleted is no 500', async () => {
    const person = await shop.signUp()
    await shop.sql('begin')
    await shop.sql('delete from auth.users where id = $1', [person.id])
    const late = signIn(person.email)
    await sleep(1500)
    await shop.sql('commit')
    expect((await late).status).toBe(401)
  })
  it('a disabled guest gets no account', async () => {
    const one = await guest()
    await shop.sql('update auth.users set disabled_at = now() where id = $1', [one.user.id])
    const { status } = await shop.call('/auth/upgrade', {
      token: one.access_token,
      json: { email: address(), password },
    })
    expect(status).toBe(409)
  })
  it('an access token does not outlive its session', async () => {
    const person = await shop.signUp()
    await shop.sql(`update auth.sessions set expires_at = now() - interval '1 second' where user_id = $1`, [person.id])
    expect((await refresh(person.refreshToken)).status).toBe(401)
    expect((await shop.call('/orders', { token: person.token })).status).toBe(401)
  })
  it('guests who want one address at the same time: one gets it, the others email_taken', async () => {
    const guests = await Promise.all(Array.from({ length: 8 }, guest))
    const email = address()
    const answers = await Promise.all(
      guests.map(({ access_token }) => shop.call('/auth/upgrade', { token: access_token, json: { email, password } })),
    )
    expect(answers.map(({ status, json }) => (status === 200 ? 'ok' : json.error)).sort()).toEqual([
      ...Array(7).fill('email_taken'),
      'ok',
    ])
  })
  it('a user who is disabled during the check of the password gets no session', async () => {
    const person = await shop.signUp()
    await shop.sql('begin')
    await shop.sql('update auth.users set disabled_at = now() where id = $1', [person.id])
    const late = signIn(person.email)
    await sleep(1500)
    await shop.sql('commit')
    expect((await late).status).toBe(403)
  })
})

describe('limits and bounds', () => {
  it('clients with IPv4-mapped addresses do not share one network', async () => {
    const answers = []
    for (let n = 1; n <= 11; n++)
      answers.push((await signIn(address(), password, { 'cf-connecting-ip': `::ffff:203.0.113.${n}` })).status)
    expect(answers).toEqual(Array(11).fill(401))
  })
  it('consents of one user have a bound, and the list is whole', async () => {
    const { token, id } = await shop.signUp()
    const statuses = new Set<number>()
    for (let batch = 0; batch < 26; batch++) {
      const some = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          shop.call('/auth/consents', { token, json: { document: 'terms', version: `${batch}-${n}` } }),
        ),
      )
      for (const { status } of some) statuses.add(status)
    }
    const list = (await shop.call('/auth/consents', { token })).json
    const [row] = await shop.sql<{ held: number; entries: number }>(
      `select (select count(*)::int from auth.consents where user_id = $1) as held, (select count(*)::int from auth.audit where target_id = $1) as entries`,
      [id],
    )
    expect({ statuses: [...statuses], shown: list.data.length, has_more: list.has_more, ...row }).toMatchObject({
      statuses: [204, 409],
      shown: 200,
      has_more: false,
      held: 200,
    })
  }, 120_000)
  it('data that is nested deeply is 400, not 500', async () => {
    const body = `{"email":"${address()}","password":"${password}","data":{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}}`
    const { status } = await shop.call('/auth/sign-up', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    })
    expect(status).toBe(400)
  })
  it('odd addresses of clients and user agents are no 500', async () => {
    const person = await shop.signUp()
    const odd = [
      '1:2:3:4:5:6:7::',
      '::',
      '01.02.03.04',
      '::ffff:1.2.3.4',
      '1.2.3.4, 5.6.7.8',
      '::1.2.3.4',
      'fe80::1%25eth0',
      '0:0:0:0:0:0:0:1',
      '1::2:3:4:5:6:7',
      '::2:3:4:5:6:7:8',
      '255.255.255.256',
      '1.2.3',
      '::g',
      ' ',
      '0000:0000:0000:0000:0000:ffff:192.168.001.001',
      '1:2:3:4:5:6:1.2.3.4',
      '::00001',
      '[::1]',
      '2001:DB8::A',
    ]
    const statuses: Record<string, number> = {}
    for (const ip of odd)
      statuses[ip] = (
        await signIn(person.email, password, {
          'cf-connecting-ip': ip,
          'user-agent': '\u00ff\u00fe\u00c3\u0028\u00ed\u00a0\u0080'.repeat(200),
        })
      ).status
    expect(Object.entries(statuses).filter(([, status]) => status !== 200)).toEqual([])
  })
  it('odd ids and texts are no 500', async () => {
    const { token } = await shop.signUp()
    const long = 'x'.repeat(12_000)
    const answers = await Promise.all([
      shop.call(`/auth/sessions/${long}`, { method: 'DELETE', token }),
      shop.call('/auth/sessions/%00', { method: 'DELETE', token }),
      shop.call(`/auth/mfa/${long}`, { method: 'DELETE', token }),
      shop.call(`/auth/consents/${long}`, { method: 'DELETE', token }),
      shop.call(`${management}/operators/${long}`, { method: 'PUT', headers: asService() }),
      shop.call(`${management}/users/${long}/roles/customer`, { method: 'PUT', headers: asService() }),
      shop.call('/auth/mfa/totp/enrol', { token, json: { label: '😀'.repeat(50) } }),
      shop.call('/auth/mfa/challenge', { json: { challenge_id: 'x', recovery_code: 'é😀' } }),
      shop.call('/auth/consents', { token, json: { document: 'a', version: '😀'.repeat(32) } }),
      shop.call('/auth/token/refresh', { json: { refresh_token: `rt_${'A'.repeat(197)}` } }),
      shop.call('/auth/sign-up', { json: { email: address(), password: 'a\u0000bbbbbbbbbb' } }),
      shop.call('/auth/sign-up', {
        method: 'POST',
        body: `{"email":"${address()}","password":"aaaaaaaaa\\ud800"}`,
        headers: { 'content-type': 'application/json' },
      }),
      shop.call('/auth/sign-up', {
        method: 'POST',
        body: `{"email":"${address()}","password":"aaaaaaaaaaa","data":{"n":1e999,"__proto__":{"x":1},"constructor":1}}`,
        headers: { 'content-type': 'application/json' },
      }),
    ])
    expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toEqual([])
  })
  it('five wrong passwords of a stranger do not lock the owner out', async () => {
    const person = await shop.signUp()
    for (let n = 0; n < 5; n++) await signIn(person.email, 'wrong password', { 'cf-connecting-ip': '203.0.113.66' })
    expect((await signIn(person.email, password, { 'cf-connecting-ip': '198.51.100.7' })).status).toBe(200)
  })
})

describe('grants', () => {
  it('SQL of the service role cannot become an operator by moving its session', async () => {
    const own = await shop.signUp()
    const operator = await shop.signUp()
    await shop.call(`${management}/operators/${operator.id}`, { method: 'PUT', headers: asService() })
    await shop
      .sql(
        `set local role backend_service_role; update auth.sessions set user_id = '${operator.id}', aal = 'aal2' where user_id = '${own.id}'`,
      )
      .catch(() => {})
    const { json } = await refresh(own.refreshToken)
    const gate = await shop.call(`${management}/settings`, { token: json.access_token })
    expect([claimsOf(json.access_token).management, gate.status]).toEqual([undefined, 403])
  })
  it('the other roles reach none of the new tables and functions', async () => {
    for (const role of [
      'backend_authenticated',
      'backend_service_role',
      'stack_backend',
      'stack_backend_service',
      'stack_auth',
    ]) {
      for (const table of [
        'operators',
        'rate_limits',
        'consents',
        'audit',
        'mfa_factors',
        'recovery_codes',
        'mfa_challenges',
        'signing_keys',
        'password_credentials',
      ]) {
        await expect(
          shop.sql(`begin; set local role ${role}; select from auth.${table}; rollback`),
        ).rejects.toMatchObject({ code: '42501' })
        await shop.sql('rollback')
      }
      for (const call of ['take_attempt(null,1,1)', 'prune_audit()', 'repair_logins()']) {
        await expect(shop.sql(`begin; set local role ${role}; select auth.${call}; rollback`)).rejects.toMatchObject({
          code: '42501',
        })
        await shop.sql('rollback')
      }
    }
  })
})

describe('more', () => {
  it('without any held lock: sign-ins with the old password beside its change', async () => {
    let survivors = 0
    for (let round = 0; round < 3; round++) {
      const person = await shop.signUp()
      const change = shop.call('/auth/password/change', {
        token: person.token,
        json: { current_password: password, password: 'another password' },
      })
      const late = []
      for (let n = 0; n < 4; n++) {
        late.push(signIn(person.email))
        await sleep(30)
      }
      expect((await change).status).toBe(204)
      const answers = await Promise.all(late)
      for (const { status, json } of answers)
        if (status === 200 && (await refresh(json.refresh_token)).status === 200) survivors++
    }
    expect(survivors).toBe(0)
  })
  it('take_attempt counts an attempt whose bucket is forgotten while it waits', async () => {
    const [a, b, c] = [1, 2, 3].map(() => new pg.Client(shop.stack.record.database_url))
    for (const one of [a, b, c]) await one!.connect()
    try {
      const take = (one: pg.Client) => one.query(`select auth.take_attempt('attack', 1, 900) as wait`)
      expect((await take(a!)).rows[0].wait).toBe(0)
      await a!.query('begin')
      expect((await take(a!)).rows[0].wait).toBeGreaterThan(0) // refused: holds the lock of the row until it ends
      const forgotten = b!.query(`delete from auth.rate_limits where bucket = 'attack'`)
      await sleep(300)
      const uncounted = take(c!)
      await sleep(300)
      await a!.query('rollback')
      await forgotten
      // Whichever of the two came first: an attempt that was admitted is counted.
      const isAdmitted = (await uncounted).rows[0].wait === 0
      const kept = await shop.sql(`select from auth.rate_limits where bucket = 'attack'`)
      expect(kept).toHaveLength(isAdmitted ? 1 : 0)
    } finally {
      for (const one of [a, b, c]) await one!.end()
    }
  })
  it('attempts at a locked account count against the network', async () => {
    const headers = { 'cf-connecting-ip': '203.0.113.90' }
    const email = address()
    for (let n = 0; n < 15; n++) await signIn(email, password, headers)
    expect((await signIn(address(), password, headers)).status).toBe(429)
  })
  it('a sign-out that ends nothing adds no entry', async () => {
    const { token, id } = await shop.signUp()
    for (let n = 0; n < 20; n++) await shop.call('/auth/sign-out', { token, json: { scope: 'others' } })
    expect(
      await shop.sql(`select from auth.audit where target_id = $1 and event_type = 'user.signed_out'`, [id]),
    ).toHaveLength(0)
  })
  it('enrolments at once leave one pending factor', async () => {
    const { token, id } = await shop.signUp()
    const answers = await Promise.all(
      Array.from({ length: 15 }, () => shop.call('/auth/mfa/totp/enrol', { token, json: {} })),
    )
    const rows = await shop.sql('select from auth.mfa_factors where user_id = $1', [id])
    expect([[...new Set(answers.map(({ status }) => status))], rows.length]).toEqual([[200], 1])
  })
  it('an address has ASCII letters', async () => {
    expect((await signUp({ email: `${crypto.randomUUID()}@bo\u017fs.com` })).status).toBe(400)
  })
  it('what the hook reads of the user is alike for a known address', async () => {
    await shop.sql('create table if not exists public.copied (user_id text primary key, email text not null)')
    await hook('insert into public.copied select u.id, u.email from auth.users u where u.id = user_created.user_id;')
    const known = await signUp({}).then(({ json }) => json.user.email)
    await settings({ confirm_email_required: true })
    expect((await signUp({ email: known })).status).toBe((await signUp({})).status)
  })
  it('another user is served while one has 60 requests of the second factor and of sign-in under way', async () => {
    const one = await shop.signUp()
    const other = await shop.signUp()
    await settings({ rate_limits: { second_factor_per_account: { attempts: 1000, seconds: 60 } } })
    const flood = Array.from({ length: 60 }, () =>
      shop.call('/auth/mfa/step-up', { token: one.token, json: { code: '000000' } }),
    )
    const calm = await shop.call('/orders', { token: other.token })
    const statuses = (await Promise.all(flood)).map(({ status }) => status)
    expect([calm.status, [...new Set(statuses)]]).toEqual([200, [401]])
  })
  it('the gate: no way in', async () => {
    const person = await shop.signUp()
    await shop.call(`${management}/operators/${person.id}`, { method: 'PUT', headers: asService() })
    const token = (await refresh(person.refreshToken)).json.access_token
    const visit = (headers: Record<string, string>, as?: string, path = `${management}/settings`) =>
      shop.call(path, { headers, ...(as ? { token: as } : {}) })
    expect((await visit({}, token)).status).toBe(200)
    expect((await visit({ dpop: '' }, token)).status).toBe(401)
    expect((await visit({ dpop: 'x', ...asService() })).status).toBe(401)
    expect((await visit({ authorization: `dPoP ${token}`, ...asService() })).status).toBe(401)
    expect((await visit({}, token, `${management}/operators`)).status).toBe(403)
    expect((await visit({ apikey: 'wrong' })).status).toBe(401)
    expect((await visit({ apikey: `${asService().apikey}, x` })).status).toBe(401)
    expect((await visit({}, (await guest()).access_token)).status).toBe(403)
    expect((await visit({}, person.token)).status).toBe(403)
    for (const path of [
      '//v1/management/auth/settings',
      '/v1/management/auth/settings/',
      '/v1/management/auth/%73ettings',
      '/V1/management/auth/settings',
    ]) {
      expect([401, 404]).toContain((await visit({}, undefined, path)).status)
    }
    expect((await shop.call(`${management}/settings`, { method: 'HEAD' })).status).toBe(401)
    await shop.call('/auth/sign-out', { token, json: { scope: 'all' } })
    expect((await visit({}, token)).status).toBe(401)
  })
  it('thirty sign-ups with one address make one account', async () => {
    const email = address()
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        signUp({ email: n % 2 ? email : email.toUpperCase(), password: `${password} ${n}` }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(new Set(answers.map(({ json }) => json.error))).toEqual(new Set([undefined, 'email_taken']))
  })
  it('refresh beside sign-out: no live pair is left', async () => {
    const person = await shop.signUp()
    const [out, ...pairs] = await Promise.all([
      shop.call('/auth/sign-out', { token: person.token, json: { scope: 'all' } }),
      ...Array.from({ length: 10 }, () => refresh(person.refreshToken)),
    ])
    expect(out!.status).toBe(200)
    for (const { status, json } of pairs)
      if (status === 200) expect((await refresh(json.refresh_token)).status).toBe(401)
  })
  it('of changes at once from one old password one succeeds', async () => {
    const rounds = []
    for (let round = 0; round < 4; round++) {
      const person = await shop.signUp()
      const other = (await signIn(person.email)).json.access_token
      const change = (token: string, next: string) =>
        shop.call('/auth/password/change', { token, json: { current_password: password, password: next } })
      await shop.sql('begin')
      await shop.sql('select from auth.password_credentials where user_id = $1 for update', [person.id])
      const both = [change(person.token, 'of the owner'), change(other, 'of the attacker')]
      await sleep(1500)
      await shop.sql('commit')
      rounds.push((await Promise.all(both)).filter(({ status }) => status === 204).length)
    }
    expect(rounds).toEqual([1, 1, 1, 1])
  })
  it('an account is deleted only after a sign-in that is fresh', async () => {
    const person = await shop.signUp()
    await shop.sql(`update auth.sessions set auth_time = now() - interval '20 days' where user_id = $1`, [person.id])
    const { access_token } = (await refresh(person.refreshToken)).json
    expect((await shop.call('/auth/user', { method: 'DELETE', token: access_token })).status).toBe(403)
  })
  it('rotation: a token of the moment before and after is taken, by the same verifier', async () => {
    const rotate = () => shop.call(`${management}/keys/signing/rotate`, { method: 'POST', headers: asService() })
    await rotate()
    const before = await shop.signUp()
    await shop.sql(`update auth.signing_keys set activate_at = now() where activate_at > now()`)
    const after = await shop.signUp()
    const kid = (token: string) => JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid
    expect(kid(before.token)).not.toBe(kid(after.token))
    expect((await shop.call('/orders', { token: before.token })).status).toBe(200)
    const { keys } = (await shop.call('/auth/.well-known/jwks.json')).json
    expect(keys.map((key: { kid: string }) => key.kid)).toEqual(
      expect.arrayContaining([kid(before.token), kid(after.token)]),
    )
  })
})
