/** Users over the management surface: found, made, imported, changed, exported, deleted; their factors and consents (contract 9). */
import * as nodeCrypto from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import setup from 'argon2id/lib/setup.js'
import bcrypt from 'bcryptjs'
import { afterEach, describe, expect, it } from 'vitest'
import { batched } from '../../support/batched.ts'
import { packageRoot } from '../../support/command.ts'
import { administer, naughtyStrings } from '../../support/management.ts'
import { useStack } from '../../support/stack.ts'
import { titled } from '../../support/titles.ts'

const shop = useStack('examples/orders')
const admin = administer(shop)
const password = 'correct horse battery'
const address = () => `${crypto.randomUUID()}@example.com`
const phone = () => `+49151${String(Math.floor(Math.random() * 1e8)).padStart(8, '0')}`
const signIn = (email: string, given = password) =>
  shop.call('/auth/sign-in/password', { json: { email, password: given } })
const settings = (json: object) => admin.call('PUT', '/settings', json)
const make = async (json: object = {}) => (await admin.call('POST', '/users', { email: address(), ...json })).json

function codeOf(secret: string, steps = 0): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = [...secret].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('')
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + steps))
  const key = Buffer.from(bits.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)))
  const digest = nodeCrypto.createHmac('sha1', key).update(counter).digest()
  return String((digest.readUInt32BE(digest.at(-1)! & 15) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

/** A user with a verified factor, whose session has proved it. */
async function enrolled() {
  const person = await shop.signUp()
  const { json } = await shop.call('/auth/mfa/totp/enrol', { token: person.token, json: { label: 'a telephone' } })
  const verified = await shop.call('/auth/mfa/totp/verify', {
    token: person.token,
    json: { factor_id: json.factor_id, code: codeOf(json.secret, -1) },
  })
  expect(verified.status).toBe(200)
  return {
    ...person,
    secret: json.secret as string,
    factorId: json.factor_id as string,
    codes: verified.json.recovery_codes as string[],
  }
}

afterEach(async () => {
  await shop.sql('drop function if exists public.user_created(text, text, jsonb)')
  await shop.sql('delete from auth.rate_limits')
  await settings({})
})

describe('a list of users', () => {
  it('finds the beginning of an address whatever its case, and takes % and _ for themselves', async () => {
    const mark = crypto.randomUUID().slice(0, 8)
    for (const name of ['anna', 'anne_1', 'anne%2', 'annex1']) await make({ email: `${mark}-${name}@example.com` })
    const found = async (query: string) =>
      (await admin.call('GET', `/users?query=${encodeURIComponent(query)}`)).json.data.map(
        ({ email }: { email: string }) => email.split('@')[0]!.slice(9),
      )
    expect(await found(`${mark.toUpperCase()}-Ann`)).toEqual(['anna', 'anne%2', 'anne_1', 'annex1'])
    expect(await found(`${mark}-anne_`)).toEqual(['anne_1'])
    expect(await found(`${mark}-anne%`)).toEqual(['anne%2'])
    expect(await found(`${mark}-annexx`)).toEqual([])
  })

  it('finds an address, a phone number, and those who are disabled', async () => {
    const number = phone()
    const one = await make({ phone: number })
    const other = await make()
    await admin.call('PATCH', `/users/${other.id}`, { disabled: true })
    const ids = async (query: string) => (await admin.pages(`/users?limit=500&${query}`)).map(({ id }) => id)
    expect(await ids(`email=${encodeURIComponent(` ${one.email.toUpperCase()}`)}`)).toEqual([one.id])
    expect(await ids(`phone=${encodeURIComponent(number)}`)).toEqual([one.id])
    expect(await ids(`query=${encodeURIComponent(number.slice(0, 10))}`)).toContain(one.id)
    expect(await ids('disabled=true')).toContain(other.id)
    expect(await ids('disabled=true')).not.toContain(one.id)
    expect(await ids('disabled=false')).not.toContain(other.id)
    expect(await ids(`email=${one.email}&disabled=true`)).toEqual([])
  })

  it.each(['email=nobody', 'phone=0151', 'disabled=yes', 'disabled=', 'email=', `query=${'x'.repeat(255)}`])(
    'refuses %.40s',
    async (query) => {
      const { json } = await admin.call('GET', `/users?${query}`)
      expect(json).toMatchObject({ error: 'invalid_request', status: 400, fields: [{ path: query.split('=')[0] }] })
    },
  )

  it('is whole and without repetition while users are added', async () => {
    const before = Array.from({ length: 25 }, () => address())
    for (const email of before) await make({ email })
    const known = (await shop.sql<{ id: string }>('select id from auth.users')).map(({ id }) => id)
    const listed = (await admin.pages('/users?limit=7', () => make())).map(({ id }) => id)
    expect(new Set(listed).size).toBe(listed.length)
    expect(known.filter((id) => !listed.includes(id))).toEqual([])
    const mark = crypto.randomUUID().slice(0, 8)
    for (let n = 0; n < 12; n++) await make({ email: `${mark}${n}@example.com` })
    const found = (await admin.pages(`/users?limit=5&query=${mark}`)).map(({ email }) => email)
    expect(found).toEqual([...found].sort())
    expect(new Set(found).size).toBe(12)
  })

  it('reads its own rows and one more, of an index', async () => {
    await shop.sql(
      `insert into auth.users (id, email) select 'usr_many' || n, 'many' || n || '@example.com' from generate_series(1, 20000) n`,
    )
    await shop.sql('analyze auth.users')
    const plan = JSON.stringify(
      await shop.sql(`explain (analyze, format json) select id from auth.users where email is not null and email collate "C" >= 'many1'
        and email collate "C" < 'many1' || chr(1114111) order by email collate "C" limit 51`),
    )
    expect(plan).toContain('users_email_prefix')
    expect(plan).not.toContain('Sort')
    await shop.sql(`delete from auth.users where id like 'usr_many%'`)
  })
})

describe('a user who is made', () => {
  it('has the default role and what the hook of the project makes, also where sign-up is switched off', async () => {
    await shop.sql('create table if not exists public.made (user_id text, email text, data jsonb)')
    await shop.sql(`create function public.user_created(user_id text, email text, data jsonb) returns void language plpgsql
      security definer set search_path = '' as $$ begin insert into public.made values (user_id, email, data); end $$`)
    await settings({ sign_up_enabled: false })
    const number = phone()
    const json = await make({
      email: null,
      phone: number,
      phone_confirmed: true,
      data: { plan: 'x' },
      custom_claims: { a: 1 },
    }).then(() =>
      admin.call('POST', '/users', {
        phone: number,
        phone_confirmed: true,
        data: { plan: 'x' },
        custom_claims: { a: 1 },
      }),
    )
    expect([json.status, json.json]).toEqual([
      201,
      {
        id: expect.stringMatching(/^usr_/),
        email: null,
        email_verified: false,
        phone: number,
        phone_verified: true,
        is_anonymous: false,
        disabled: false,
        disabled_at: null,
        custom_claims: { a: 1 },
        last_sign_in_at: null,
        created_at: expect.stringMatching(/Z$/),
        updated_at: expect.stringMatching(/Z$/),
      },
    ])
    const { id } = json.json
    expect(await shop.sql('select email, data from public.made where user_id = $1', [id])).toEqual([
      { email: null, data: { plan: 'x' } },
    ])
    expect((await admin.call('GET', `/users/${id}/roles`)).json.data).toMatchObject([{ name: 'customer' }])
    expect((await admin.entries(id)).map(({ event_type, actor_type }) => [event_type, actor_type])).toEqual([
      ['user.created', 'service'],
    ])
  })

  it('is refused by the hook, and does not remain', async () => {
    await shop.sql(`create function public.user_created(user_id text, email text, data jsonb) returns void language plpgsql
      security definer set search_path = '' as $$ begin raise exception 'members only' using errcode = 'P0001'; end $$`)
    const email = address()
    expect((await make({ email })).error_description).toBe('members only')
    expect(await shop.sql('select from auth.users where email = $1', [email])).toEqual([])
  })

  it('signs in with the password that was given, once the policy takes it', async () => {
    const email = address()
    expect(await make({ email, password: '1234567' })).toMatchObject({ error: 'invalid_password', status: 400 })
    await make({ email, password, email_confirmed: true })
    await settings({ confirm_email_required: true })
    expect((await signIn(email)).json.user.email_verified).toBe(true)
    const other = address()
    await make({ email: other, password })
    expect((await signIn(other)).json.error).toBe('email_not_confirmed')
  })

  it('has an address and a number of their own', async () => {
    const { email } = await make()
    const number = phone()
    await make({ phone: number })
    expect(await make({ email })).toMatchObject({ error: 'email_taken', status: 409 })
    expect(await make({ phone: number })).toMatchObject({ error: 'phone_taken', status: 409 })
    const many = address()
    const answers = await Promise.all(Array.from({ length: 50 }, () => admin.call('POST', '/users', { email: many })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ json }) => json.error === 'email_taken')).toHaveLength(49)
  })

  it.each(
    titled<readonly [object]>([
      [{}],
      [{ email: 'nobody' }],
      [{ email: null }],
      [{ phone: '0151 1234567' }],
      [{ email: 'a@example.com', password: 'a password', password_hash: '$2b$10$' }],
      [{ phone: '+4915112345678', email_confirmed: true }],
      [{ email: 'a@example.com', phone_confirmed: true }],
      [{ email: 'a@example.com', custom_claims: [] }],
      [{ email: 'a@example.com', custom_claims: { text: 'x'.repeat(4_100) } }],
      [{ email: 'a@example.com', data: { text: 'x'.repeat(4_100) } }],
      [{ email: 'a@example.com', id: 'usr_mine' }],
      [[]],
    ]),
  )('is refused as %s', async (_title, json) => {
    expect((await admin.call('POST', '/users', json)).json).toMatchObject({ error: 'invalid_request', status: 400 })
  })
})

describe('an imported hash', () => {
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64').replace(/=+$/, '')
  const salt = Buffer.from('0123456789abcdef')
  const scryptOf = (given: string, { ln = 14, r = 8, p = 1 } = {}) => {
    const hash = nodeCrypto.scryptSync(given, salt, 32, { N: 2 ** ln, r, p, maxmem: 2 ** 28 })
    return `$scrypt$ln=${ln},r=${r},p=${p}$${base64(salt)}$${base64(hash)}`
  }
  const argon2Of = async (given: string, { m = 4096, t = 3, p = 1, length = 32 } = {}) => {
    const load = async (name: string, imports: WebAssembly.Imports) =>
      WebAssembly.instantiate(
        fs.readFileSync(path.join(packageRoot, `node_modules/argon2id/dist/${name}.wasm`)),
        imports,
      )
    const compute = await setup(
      (imports) => load('simd', imports),
      (imports) => load('no-simd', imports),
    )
    const hash = compute({
      password: Buffer.from(given),
      salt,
      memorySize: m,
      passes: t,
      parallelism: p,
      tagLength: length,
    })
    return `$argon2id$v=19$m=${m},t=${t},p=${p}$${base64(salt)}$${base64(hash)}`
  }
  const bcryptOf = (given: string, cost = 5) => bcrypt.hashSync(given, cost)
  const secret = 'Ünïcode pässword 🐎'

  it.each<[string, () => Promise<string> | string]>([
    ['argon2id', () => argon2Of(secret)],
    ['argon2id with 64 MiB and 4 lanes', () => argon2Of(secret, { m: 65_536, t: 1, p: 4, length: 16 })],
    ['bcrypt $2a$', () => bcryptOf(secret).replace('$2b$', '$2a$')],
    ['bcrypt $2b$', () => bcryptOf(secret)],
    ['bcrypt $2y$', () => bcryptOf(secret).replace('$2b$', '$2y$')],
    ['bcrypt of cost 12', () => bcryptOf(secret, 12)],
    ['scrypt', () => scryptOf(secret)],
    ['scrypt with N·r·p of 2^20', () => scryptOf(secret, { ln: 16, r: 8, p: 2 })],
  ])('of %s signs in, and is replaced by one with the pepper', async (_what, hashOf) => {
    const email = address()
    const password_hash = await hashOf()
    const { id } = await make({ email, password_hash })
    expect((await signIn(email, `${secret}!`)).json.error).toBe('invalid_credentials')
    const stored = async () =>
      (await shop.sql<{ phc: string }>('select phc from auth.password_credentials where user_id = $1', [id]))[0]!.phc
    expect(await stored()).toBe(`imported:${password_hash}`)
    expect((await signIn(email, secret)).json.user.id).toBe(id)
    expect(await stored()).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect((await signIn(email, secret)).status).toBe(200)
    expect((await signIn(email, `${secret}!`)).json.error).toBe('invalid_credentials')
    expect((await signIn(email, '')).json.error).toBe('invalid_credentials')
  })

  it.each(
    titled<readonly [string]>([
      [''],
      ['plain text'],
      ['$1$salt$hash'],
      ['imported:$2b$10$'],
      ['$argon2i$v=19$m=4096,t=3,p=1$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZg'],
      ['$argon2id$v=16$m=4096,t=3,p=1$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZg'],
      ['$argon2id$v=19$m=65537,t=3,p=1$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZg'],
      ['$argon2id$v=19$m=4096,t=11,p=1$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZg'],
      ['$argon2id$v=19$m=4096,t=0,p=1$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZg'],
      ['$argon2id$v=19$m=4096,t=3,p=17$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZg'],
      ['$argon2id$v=19$m=7,t=3,p=1$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZg'],
      ['$argon2id$v=19$m=4096,t=3,p=1$c2FsdA$MDEyMzQ1Njc4OWFiY2RlZg'],
      ['$argon2id$v=19$m=4096,t=3,p=1$MDEyMzQ1Njc4OWFiY2RlZg$aGFzaA'],
      ['$argon2id$v=19$m=4096,t=3,p=1$MDEyMzQ1Njc4OWFiY2RlZgA==$MDEyMzQ1Njc4OWFiY2RlZg'],
      ['$argon2id$v=19$m=4096,t=3,p=1$MDEyMzQ1Njc4OWFiY2RlZ$MDEyMzQ1Njc4OWFiY2RlZ'],
      ['$2b$13$MDEyMzQ1Njc4OWFiY2RlZgMDEyMzQ1Njc4OWFiY2RlZgMDEyMzQ1Njc'],
      ['$2x$10$MDEyMzQ1Njc4OWFiY2RlZgMDEyMzQ1Njc4OWFiY2RlZgMDEyMzQ1Njc'],
      ['$2b$10$tooshort'],
      ['$scrypt$ln=18,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZg'],
      ['$scrypt$ln=99,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZg'],
      ['$scrypt$ln=14,r=0,p=1$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZg'],
      ['$scrypt$ln=0,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZg'],
      [`$scrypt$ln=14,r=8,p=1$${'A'.repeat(300)}$MDEyMzQ1Njc4OWFiY2RlZg`],
    ]),
  )('is refused as %s', async (_title, password_hash) => {
    const email = address()
    const answer = await admin.call('POST', '/users', { email, password_hash })
    expect(answer.json).toMatchObject({ error: 'invalid_request', status: 400, fields: [{ path: 'password_hash' }] })
    if (password_hash.length > 20) expect(answer.text).not.toContain(password_hash.slice(-16))
    expect(await shop.sql('select from auth.users where email = $1', [email])).toEqual([])
  })

  it('is changed by its owner like any other', async () => {
    const email = address()
    await make({ email, password_hash: bcryptOf(secret) })
    const { access_token } = (await signIn(email, secret)).json
    const json = { current_password: secret, password: 'another password' }
    expect((await shop.call('/auth/password/change', { token: access_token, json })).status).toBe(204)
    expect((await signIn(email, 'another password')).status).toBe(200)
  })
})

describe('a change', () => {
  it('that disables ends every session at once, and enabling lets the user sign in again', async () => {
    const person = await shop.signUp()
    const disabled = await admin.call('PATCH', `/users/${person.id}`, { disabled: true })
    expect(disabled.json).toMatchObject({ disabled: true, disabled_at: expect.stringMatching(/Z$/) })
    expect((await shop.call('/orders', { token: person.token })).status).toBe(401)
    expect((await signIn(person.email)).json.error).toBe('user_disabled')
    expect((await admin.call('PATCH', `/users/${person.id}`, { disabled: true })).json).toEqual(disabled.json)
    expect((await admin.call('PATCH', `/users/${person.id}`, { disabled: false })).json.disabled).toBe(false)
    expect((await signIn(person.email)).status).toBe(200)
    const events = (await admin.entries(person.id)).filter(({ event_type }) => /abled$/.test(event_type))
    expect(events.map(({ event_type, details }) => [event_type, details])).toEqual([
      ['user.disabled', { sessions_ended: 1 }],
      ['user.enabled', {}],
    ])
  })

  it('of an address unconfirms it, and says so in the trail', async () => {
    const { id, email } = await make({ email_confirmed: true })
    const next = address()
    expect((await admin.call('PATCH', `/users/${id}`, { email: next })).json).toMatchObject({
      email: next,
      email_verified: false,
    })
    expect((await admin.call('PATCH', `/users/${id}`, { email_confirmed: true })).json.email_verified).toBe(true)
    const both = await admin.call('PATCH', `/users/${id}`, { email, email_confirmed: true, phone: '+4915100000001' })
    expect(both.json).toMatchObject({ email, email_verified: true, phone: '+4915100000001', phone_verified: false })
    expect((await admin.call('PATCH', `/users/${id}`, { email: null })).json).toMatchObject({
      email: null,
      email_verified: false,
    })
    expect((await admin.call('PATCH', `/users/${id}`, {})).status).toBe(200)
    const events = (await admin.entries(id)).filter(({ event_type }) => event_type === 'user.updated')
    expect(events.map(({ changes }) => changes)).toEqual([
      [
        { path: 'email', from: email, to: next },
        { path: 'email_verified', from: true, to: false },
      ],
      [{ path: 'email_verified', from: false, to: true }],
      [
        { path: 'email', from: next, to: email },
        { path: 'phone', from: null, to: '+4915100000001' },
      ],
      [
        { path: 'email', from: email, to: null },
        { path: 'email_verified', from: true, to: false },
      ],
    ])
    await admin.call('DELETE', `/users/${id}`)
  })

  it('of an address makes the tokens of the old one worthless', async () => {
    const { id, email } = await make()
    await shop.sql(
      `insert into auth.one_time_tokens (token_digest, code_digest, purpose, user_id, target, expires_at, code_expires_at) values ($1, 'c', 'reset_password', $2, $3, now() + interval '1 hour', now())`,
      [crypto.randomUUID(), id, email],
    )
    await admin.call('PATCH', `/users/${id}`, { custom_claims: { plan: 'x' } })
    expect(await shop.sql('select from auth.one_time_tokens where user_id = $1', [id])).toHaveLength(1)
    await admin.call('PATCH', `/users/${id}`, { email: address() })
    expect(await shop.sql('select from auth.one_time_tokens where user_id = $1', [id])).toHaveLength(0)
  })

  it('of claims is in the next token', async () => {
    const person = await shop.signUp()
    await admin.call('PATCH', `/users/${person.id}`, { custom_claims: { plan: 'gold' } })
    const { json } = await shop.call('/auth/token/refresh', { json: { refresh_token: person.refreshToken } })
    expect(JSON.parse(Buffer.from(json.access_token.split('.')[1], 'base64url').toString()).custom_claims).toEqual({
      plan: 'gold',
    })
  })

  it.each<[string, object, string]>([
    ['nothing to reach the user by', { email: null }, 'invalid_request'],
    ['a confirmation of nothing', { phone_confirmed: true }, 'invalid_request'],
    ['an unknown field', { emial: 'a@example.com' }, 'invalid_request'],
    ['no address', { email: 'nobody' }, 'invalid_request'],
    ['text for a truth value', { disabled: 'true' }, 'invalid_request'],
  ])('to %s is refused', async (_what, json, error) => {
    const { id } = await make()
    expect((await admin.call('PATCH', `/users/${id}`, json)).json).toMatchObject({ error, status: 400 })
  })

  it('takes no address of another user, and gives a guest none', async () => {
    const [one, other] = [await make({ phone: phone() }), await make()]
    expect((await admin.call('PATCH', `/users/${other.id}`, { email: one.email })).json.error).toBe('email_taken')
    expect((await admin.call('PATCH', `/users/${other.id}`, { phone: one.phone })).json.error).toBe('phone_taken')
    const guest = (await shop.call('/auth/anonymous', { method: 'POST' })).json.user.id
    expect((await admin.call('PATCH', `/users/${guest}`, { email: address() })).json).toMatchObject({
      error: 'conflict',
      status: 409,
    })
    expect((await admin.call('PATCH', `/users/${guest}`, { disabled: true })).json.disabled).toBe(true)
  })

  it('disabling and enabling fifty times at once leaves a trail that alternates', async () => {
    const { id } = await shop.signUp()
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => admin.call('PATCH', `/users/${id}`, { disabled: n % 2 === 0 })),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const [row] = await shop.sql<{ on: number; off: number }>(
      `select count(*) filter (where event_type = 'user.disabled')::int as off, count(*) filter (where event_type = 'user.enabled')::int as on
      from stack.audit where target_id = $1`,
      [id],
    )
    const { disabled } = (await admin.call('GET', `/users/${id}`)).json
    expect(row!.off - row!.on).toBe(disabled ? 1 : 0)
  })

  it('while a user signs in leaves no session of a disabled user', async () => {
    for (let round = 0; round < 4; round++) {
      const person = await shop.signUp()
      const ways = Array.from({ length: 8 }, () => signIn(person.email))
      await new Promise((done) => setTimeout(done, 40 * round))
      await admin.call('PATCH', `/users/${person.id}`, { disabled: true })
      await Promise.all(ways)
      const live = await shop.sql('select from auth.sessions where user_id = $1 and ended_at is null', [person.id])
      expect(live).toEqual([])
    }
  })
})

describe('the end of an account', () => {
  it('deletes the user with everything, and its tokens are refused at once', async () => {
    const person = await shop.signUp()
    const remove = () => admin.call('DELETE', `/users/${person.id}`)
    const answers = await Promise.all(Array.from({ length: 30 }, remove))
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
    expect(answers.filter(({ json }) => json?.error === 'user_not_found')).toHaveLength(29)
    expect((await shop.call('/orders', { token: person.token })).status).toBe(401)
    const deleted = (await admin.entries(person.id)).filter(({ event_type }) => event_type === 'user.deleted')
    expect(deleted).toHaveLength(1)
  })
})

describe('an export', () => {
  it('holds what is kept about the user, and no hash and no secret', async () => {
    const person = await enrolled()
    await shop.call('/auth/consents', { token: person.token, json: { document: 'terms', version: '1' } })
    await admin.call('PUT', `/users/${person.id}/roles/staff`, undefined, {
      headers: { 'cf-connecting-ip': '203.0.113.99', 'user-agent': 'the tool of an administrator' },
    })
    await shop.call('/auth/sign-in/password', {
      json: { email: person.email, password },
      headers: { 'cf-connecting-ip': '203.0.113.10' },
    })
    const planted = {
      outbox: 'planted-variable',
      last_error: 'planted-error',
      token: 'planted-token-digest',
      code: 'planted-code-digest',
    }
    await shop.sql(
      `insert into auth.outbox (id, template, recipient, user_id, variables, last_error) values ($1, 'confirm_email', $2, $3, $4, $5)`,
      [`msg_${'0'.repeat(26)}`, person.email, person.id, { a: planted.outbox }, planted.last_error],
    )
    await shop.sql(
      `insert into auth.one_time_tokens (token_digest, code_digest, purpose, user_id, target, expires_at, code_expires_at) values ($1, $2, 'reset_password', $3, $4, now() + interval '1 hour', now())`,
      [planted.token, planted.code, person.id, person.email],
    )
    await shop.sql(
      `insert into auth.identities (provider, subject, user_id, email) values ('google', 'subject-1', $1, $2)`,
      [person.id, person.email],
    )
    const answer = await admin.call('GET', `/users/${person.id}/export`)
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${person.id}.json"`)
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.json).toMatchObject({
      format: 'stack.auth.export/1',
      exported_at: expect.stringMatching(/Z$/),
      user: { id: person.id, email: person.email },
      identities: [{ provider: 'google', subject: 'subject-1' }],
      sessions: [{ user_id: person.id, aal: 'aal2' }],
      mfa: { factors: [{ id: person.factorId, type: 'totp' }], recovery_codes: { total: 10 } },
      roles: [{ name: 'customer' }, { name: 'staff' }],
      consents: [{ document: 'terms', version: '1', source: 'user' }],
      messages: expect.arrayContaining([
        expect.objectContaining({ template: 'confirm_email', recipient: person.email }),
      ]),
      truncated: [],
    })
    expect(answer.json.audit.map(({ event_type }: { event_type: string }) => event_type)).toContain('role.assigned')
    const [row] = await shop.sql<{ phc: string; sealed_secret: string; digest: string }>(
      `select phc, sealed_secret, (select digest from auth.recovery_codes where user_id = $1 limit 1) as digest
      from auth.password_credentials join auth.mfa_factors using (user_id) where user_id = $1`,
      [person.id],
    )
    const secrets = [
      ...Object.values(row!),
      ...Object.values(planted),
      ...person.codes,
      person.secret,
      password,
      person.refreshToken,
      person.token,
    ]
    expect(secrets.filter((secret) => answer.text.includes(secret))).toEqual([])
    expect(['203.0.113.99', 'the tool of an administrator'].filter((text) => answer.text.includes(text))).toEqual([])
    const trail = JSON.stringify(await shop.sql('select * from stack.audit'))
    expect(secrets.filter((secret) => trail.includes(secret))).toEqual([])
    expect((await admin.entries(person.id)).at(-1)).toMatchObject({
      event_type: 'user.exported',
      actor_type: 'service',
    })
  })
})

describe('consents', () => {
  it('are read with the address that gave them, also those that were withdrawn', async () => {
    const { id, token } = await shop.signUp()
    const headers = { 'cf-connecting-ip': '203.0.113.5' }
    await shop.call('/auth/consents', { token, headers, json: { document: 'terms', version: '1' } })
    await shop.call('/auth/consents/terms', { token, method: 'DELETE' })
    expect((await admin.call('GET', `/users/${id}/consents`)).json).toEqual({
      data: [
        {
          document: 'terms',
          version: '1',
          granted_at: expect.stringMatching(/Z$/),
          withdrawn_at: expect.stringMatching(/Z$/),
          source: 'user',
          ip: '203.0.113.5',
        },
      ],
      has_more: false,
      next_cursor: null,
    })
  })
})

describe('second factors', () => {
  it('are read without their secrets, with the attempts that count', async () => {
    const person = await enrolled()
    const none = await make()
    expect((await admin.call('GET', `/users/${none.id}/mfa`)).json).toEqual({
      user_id: none.id,
      enrolled: false,
      factors: [],
      recovery_codes: null,
    })
    const before = await admin.call('GET', `/users/${person.id}/mfa`)
    expect(before.json).toMatchObject({
      user_id: person.id,
      enrolled: true,
      factors: [{ id: person.factorId, type: 'totp', status: 'verified', label: 'a telephone', locked_until: null }],
      recovery_codes: { total: 10, remaining: 10 },
    })
    expect([person.secret, 'otpauth', 'sealed'].filter((text) => before.text.includes(text))).toEqual([])
    for (let n = 0; n < 12; n++) await shop.call('/auth/mfa/step-up', { token: person.token, json: { code: '000000' } })
    const [factor] = (await admin.call('GET', `/users/${person.id}/mfa`)).json.factors
    expect([factor.failed_count, Date.parse(factor.locked_until) > Date.now()]).toEqual([10, true])
    const locks = (await admin.entries(person.id)).filter(({ event_type }) => event_type === 'user.locked')
    expect(locks.map(({ reason, actor_type }) => [reason, actor_type])).toEqual([
      ['second_factor_per_account', 'system'],
    ])
  })

  it('are reset: factors and codes go, the sessions that proved one end, and the user enrols again', async () => {
    const person = await enrolled()
    await shop.sql(`update auth.sessions set aal = 'aal1' where user_id = $1`, [person.id])
    const { challenge_id } = (await signIn(person.email)).json
    const done = await shop.call('/auth/mfa/challenge', { json: { challenge_id, code: codeOf(person.secret) } })
    const waiting = (await signIn(person.email)).json.challenge_id
    expect((await admin.call('DELETE', `/users/${person.id}/mfa`)).json).toEqual({
      user_id: person.id,
      removed: 1,
      sessions_ended: 1,
    })
    expect((await shop.call('/orders', { token: done.json.access_token })).status).toBe(401)
    expect((await shop.call('/orders', { token: person.token })).status).toBe(200)
    const late = await shop.call('/auth/mfa/challenge', {
      json: { challenge_id: waiting, recovery_code: person.codes[0] },
    })
    expect(late.json.error).toBe('invalid_challenge')
    expect((await admin.call('DELETE', `/users/${person.id}/mfa`)).json).toEqual({
      user_id: person.id,
      removed: 0,
      sessions_ended: 0,
    })
    expect((await admin.entries(person.id)).filter(({ event_type }) => event_type === 'mfa.reset')).toHaveLength(1)
    expect((await signIn(person.email)).status).toBe(200)
    expect((await shop.mail(person.email, 'mfa_removed')).text).toContain('removed by an administrator')
    expect((await shop.call('/auth/mfa/totp/enrol', { token: person.token, json: {} })).status).toBe(200)
    const [session] = await shop.sql(
      `select end_reason from auth.sessions where user_id = $1 and ended_at is not null`,
      [person.id],
    )
    expect(session).toEqual({ end_reason: 'mfa_reset' })
  })
})

describe('credentials', () => {
  it('are taken all at once, and nothing signs the user in any more', async () => {
    const person = await enrolled()
    await shop.sql(`insert into auth.identities (provider, subject, user_id) values ('github', $1, $1)`, [person.id])
    await shop.sql(
      `insert into auth.one_time_tokens (token_digest, code_digest, purpose, user_id, target, expires_at, code_expires_at) values ($1, 'c', 'reset_password', $2, 'x', now() + interval '1 hour', now())`,
      [crypto.randomUUID(), person.id],
    )
    const { challenge_id } = (await signIn(person.email)).json
    const revoke = () => admin.call('POST', `/users/${person.id}/credentials/revoke-all`)
    expect((await revoke()).json).toEqual({
      user_id: person.id,
      revoked: { password: 1, sessions: 1, identities: 1, factors: 1, devices: 0, one_time_tokens: expect.any(Number) },
    })
    expect((await shop.call('/orders', { token: person.token })).status).toBe(401)
    expect((await shop.call('/auth/token/refresh', { json: { refresh_token: person.refreshToken } })).status).toBe(401)
    expect((await signIn(person.email)).json.error).toBe('invalid_credentials')
    const late = await shop.call('/auth/mfa/challenge', { json: { challenge_id, code: codeOf(person.secret) } })
    expect(late.json.error).toBe('invalid_challenge')
    expect(Object.values((await revoke()).json.revoked)).toEqual([0, 0, 0, 0, 0, 0])
    expect(
      (await admin.entries(person.id)).filter(({ event_type }) => event_type === 'credentials.revoked'),
    ).toHaveLength(1)
  })

  it('that are taken while the user signs in leave no session', async () => {
    for (let round = 0; round < 4; round++) {
      const person = await enrolled()
      const challenges = []
      for (let n = 0; n < 3; n++) challenges.push((await signIn(person.email)).json.challenge_id)
      const ways = challenges.map((challenge_id, n) =>
        shop.call('/auth/mfa/challenge', { json: { challenge_id, recovery_code: person.codes[n] } }),
      )
      const revoked = await admin.call('POST', `/users/${person.id}/credentials/revoke-all`)
      expect(revoked.status).toBe(200)
      for (const { status } of await Promise.all(ways)) expect([200, 401]).toContain(status)
      expect(await shop.sql('select from auth.sessions where user_id = $1 and ended_at is null', [person.id])).toEqual(
        [],
      )
    }
  })
})

describe('a mail to choose another password', () => {
  const reset = (id: string, json: object = {}) => admin.call('POST', `/users/${id}/reset-password`, json)

  it('goes to the user, ends the sessions, and its link is in no answer', async () => {
    const person = await shop.signUp()
    const answer = await reset(person.id)
    expect([answer.status, answer.json]).toEqual([202, { status: 'sent', expires_at: expect.stringMatching(/Z$/) }])
    const mail = await shop.mail(person.email, 'reset_password')
    const [, token] = /token=([\w-]+)/.exec(mail.text)!
    expect(answer.text).not.toContain(token)
    expect((await shop.call('/orders', { token: person.token })).status).toBe(401)
    expect((await signIn(person.email)).status).toBe(200)
    const chosen = await shop.call('/auth/password/reset', { json: { token, password: 'another password' } })
    expect([chosen.status, chosen.json]).toEqual([200, { status: 'reset' }])
    expect((await signIn(person.email, 'another password')).status).toBe(200)
    const entry = (await admin.entries(person.id)).find(({ event_type }) => event_type === 'password.reset_requested')!
    expect([entry['actor_type'], entry['details']]).toEqual(['service', { sessions_ended: 1 }])
    expect(JSON.stringify(await shop.sql('select * from stack.audit'))).not.toContain(token)
  })

  it('leaves the sessions where the body says so', async () => {
    const person = await shop.signUp()
    expect((await reset(person.id, { mode: 'email', revoke_sessions: false })).status).toBe(202)
    expect((await shop.call('/orders', { token: person.token })).status).toBe(200)
  })

  it('is not sent to nobody, to a disabled user, without end, or in another way', async () => {
    const person = await shop.signUp()
    expect((await reset(person.id, { mode: 'temporary' })).json).toMatchObject({
      error: 'invalid_request',
      status: 400,
    })
    const { id } = (await admin.call('POST', '/users', { phone: phone() })).json
    expect((await reset(id)).json).toMatchObject({ error: 'conflict', status: 409 })
    const statuses = []
    for (let n = 0; n < 4; n++) statuses.push((await reset(person.id)).status)
    expect(statuses).toEqual([202, 202, 202, 429])
    await admin.call('PATCH', `/users/${person.id}`, { disabled: true })
    expect((await reset(person.id)).json).toMatchObject({ error: 'conflict', status: 409 })
    expect((await shop.call('/orders', { token: person.token })).status).toBe(401)
  })

  it('that waits to be sent is dropped when the address changes, and the former address hears of it', async () => {
    const { id, email } = await make({ email_confirmed: true })
    await shop.sql(
      `insert into auth.outbox (id, template, recipient, user_id, next_attempt_at) values ($1, 'reset_password', $2, $3, now() + interval '1 hour')`,
      [`msg_${'1'.repeat(26)}`, email, id],
    )
    const next = address()
    await admin.call('PATCH', `/users/${id}`, { email: next })
    const rows = await shop.sql(`select status from auth.outbox where user_id = $1 and template = 'reset_password'`, [
      id,
    ])
    expect(rows).toEqual([{ status: 'dropped' }])
    const mail = await shop.mail(email, 'email_changed')
    expect(mail.text).toContain(next)
  })
})

describe('an operator', () => {
  it('acts under their own id, and the key under none', async () => {
    const { id: operatorId, token } = await admin.operator()
    const { id } = await make()
    const as = { token, headers: { apikey: '' } }
    expect((await admin.call('PATCH', `/users/${id}`, { disabled: true }, as)).status).toBe(200)
    const entry = (await admin.entries(id)).at(-1)!
    expect([entry['event_type'], entry['actor_type'], entry['actor_id']]).toEqual([
      'user.disabled',
      'operator',
      operatorId,
    ])
    expect((await admin.call('POST', '/users', { email: address(), password }, as)).status).toBe(201)
  })
})

if (naughtyStrings.length === 0)
  process.stderr.write('the naughty strings are not beside this repository: their tests are skipped\n')
describe.skipIf(naughtyStrings.length === 0)('naughty strings', () => {
  const at = (text: string) => encodeURIComponent(text.toWellFormed())
  const places: Record<string, (text: string, id: string) => [string, string, unknown?]> = {
    'the id of a user': (text) => ['GET', `/users/${at(text)}`],
    'the id of a changed user': (text) => ['PATCH', `/users/${at(text)}`, { disabled: false }],
    'the id of a deleted user': (text) => ['DELETE', `/users/${at(text)}`],
    'the id of an export': (text) => ['GET', `/users/${at(text)}/export`],
    'the id of factors': (text) => ['DELETE', `/users/${at(text)}/mfa`],
    query: (text) => ['GET', `/users?query=${at(text)}`],
    email: (text) => ['GET', `/users?email=${at(text)}`],
    'phone and disabled': (text) => ['GET', `/users?phone=${at(text)}&disabled=${at(text)}`],
    'limit and cursor': (text) => ['GET', `/users?limit=5&cursor=${at(text)}`],
    limit: (text) => ['GET', `/users?limit=${at(text)}`],
    'a new address': (text) => ['POST', '/users', { email: text }],
    'a new number and hash': (text) => ['POST', '/users', { email: 'a@example.com', phone: text, password_hash: text }],
    'new data and claims': (text, id) => [
      'POST',
      '/users',
      {
        email: `${id}${naughtyStrings.indexOf(text)}@example.com`,
        data: { [text]: text },
        custom_claims: { [text]: text },
      },
    ],
    'a new password': (text, id) => [
      'POST',
      '/users',
      { email: `p${id}${naughtyStrings.indexOf(text)}@example.com`, password: text },
    ],
    'changed claims': (text, id) => ['PATCH', `/users/${id}`, { custom_claims: { [text]: text } }],
    'a changed address': (text, id) => ['PATCH', `/users/${id}`, { email: text, phone: text }],
    'an unknown field': (text, id) => ['PATCH', `/users/${id}`, { [text]: text }],
  }
  it.each(Object.keys(places))('as %s answer no 5xx', async (place) => {
    const { id } = await make()
    // a hash of each password would take a minute
    const strings = place === 'a new password' ? naughtyStrings.filter((_, index) => index % 12 === 0) : naughtyStrings
    const failed = await batched(
      strings.map((text, index) => [`#${index}`, text] as const),
      async (text) => {
        const { status } = await admin.call(...places[place]!(text, id))
        return status >= 500 ? `answered ${status}` : undefined
      },
    )
    expect(failed).toEqual([])
  })
})
