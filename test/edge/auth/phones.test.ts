/** Phone numbers over the running stack: sign-in with a code, change and removal, caps on messages, and gateways that fail. */
import { randomInt } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { CapturedMessage } from '../../../local/mailbox.ts'
import { useStack } from '../../support/stack.ts'
import { titled } from '../../support/titles.ts'
import { codeOf } from '../../support/totp.ts'

const shop = useStack('examples/orders')

const management = '/v1/management/auth'
const asService = () => ({ apikey: shop.stack.record.service_role_key })
const settings = (json: object) => shop.call(`${management}/settings`, { method: 'PUT', json, headers: asService() })
/** The driver `console` is the mailbox here. */
async function phoneSettings(config: object) {
  const json = { driver: 'console', ...config }
  const answer = await shop.call(`${management}/providers/phone/settings`, {
    method: 'PUT',
    json,
    headers: asService(),
  })
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)])
}
const storePhoneSettings = (config: object) =>
  shop.sql(`update auth.providers set config = $1 where name = 'phone'`, [JSON.stringify(config)])
const enable = (name: string, enabled: boolean) =>
  shop.call(`${management}/providers/${name}`, { json: { enabled }, headers: asService() })
const forgetLimits = () => shop.sql('delete from auth.rate_limits')
const post = (address: string, json: object, token?: string, headers: Record<string, string> = {}) =>
  shop.call(address, { json, headers, ...(token ? { token } : {}) })
const remove = (token: string) => shop.call('/auth/phone', { method: 'DELETE', token })
const numberOf = (prefix = '+4915') => prefix + String(randomInt(10 ** 8, 10 ** 9))
const codeIn = ({ text }: { text: string }) => /(?<!\d)\d{4,10}(?!\d)/.exec(text)![0]
const wrongFor = (code: string) => (code.startsWith('0') ? '1' : '0') + code.slice(1)
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
const thirty = <T>(work: (index: number) => Promise<T>) => Promise.all(Array.from({ length: 30 }, (_, i) => work(i)))
const usersWith = (phone: string) => shop.sql<{ id: string }>('select id from auth.users where phone = $1', [phone])
const entries = (id: string) =>
  shop.sql<{ event_type: string; outcome: string; details: object }>(
    'select event_type, outcome, details from auth.audit where target_id = $1 order by id',
    [id],
  )
const hook = (body: string) =>
  shop.sql(`create or replace function public.user_created(user_id text, email text, data jsonb) returns void
    language plpgsql security definer set search_path = '' as $$ begin ${body} end $$`)
const guest = async () => (await shop.call('/auth/anonymous', { method: 'POST' })).json

/** Asks for a code, and waits for its message. */
async function messageFor(phone: string, address = '/auth/sign-in/phone', token?: string): Promise<CapturedMessage> {
  const before = (await shop.mails(phone)).length
  const asked = await post(address, { phone }, token)
  expect([asked.status, asked.text]).toEqual([202, '{"status":"sent"}'])
  await vi.waitUntil(async () => (await shop.mails(phone)).length > before, { timeout: 10_000 })
  return (await shop.mails(phone))[0]!
}
const codeFor = async (...values: Parameters<typeof messageFor>) => codeIn(await messageFor(...values))
const verify = (phone: string, code: string, more: object = {}, token?: string) =>
  post('/auth/sign-in/phone/verify', { phone, code, ...more }, token)

/** Signs in with a number. */
async function person(phone = numberOf()) {
  const { status, json } = await verify(phone, await codeFor(phone))
  expect(status).toBe(200)
  await forgetLimits()
  return { phone, id: json.user.id as string, token: json.access_token as string, refreshToken: json.refresh_token }
}

beforeEach(() => enable('phone', true))

afterEach(async () => {
  await shop.sql('drop function if exists public.user_created(text, text, jsonb)')
  await shop.sql(`delete from auth.templates; delete from auth.provider_credentials`)
  await enable('email', true)
  await storePhoneSettings({})
  await forgetLimits()
  await settings({})
})

describe('phone as a provider', () => {
  it('is disabled at first, and then every route of it is 403 provider_disabled', async () => {
    await enable('phone', false)
    const { token } = await shop.signUpConfirmed()
    const phone = numberOf()
    const answers = [
      await post('/auth/sign-in/phone', { phone }),
      await verify(phone, '123456'),
      await post('/auth/phone/change', { phone }, token),
      await post('/auth/phone/change/confirm', { phone, code: '123456' }, token),
      await remove(token),
    ]
    expect(answers.map(({ json }) => [json.status, json.error])).toEqual(
      Array.from({ length: 5 }, () => [403, 'provider_disabled']),
    )
    await enable('phone', true)
    expect((await post('/auth/sign-in/phone', { phone })).status).toBe(202)
  })
})

describe('sign-in with a code', () => {
  it('makes a user of a new number: the default role, the hook, a token without an address', async () => {
    await shop.sql('create table if not exists public.heard (user_id text, email text, data jsonb)')
    await hook('insert into public.heard values (user_id, email, data);')
    const phone = numberOf()
    const message = await messageFor(phone)
    expect(message).toMatchObject({ channel: 'sms', template: 'phone_otp', to: phone, subject: '', html: '' })
    const { status, json } = await verify(phone, codeIn(message), { data: { name: 'Ada' } })
    expect(status).toBe(200)
    expect(json).toEqual({
      access_token: expect.any(String),
      token_type: 'bearer',
      expires_in: 900,
      refresh_token: expect.stringMatching(/^rt_/),
      user: {
        id: expect.stringMatching(/^usr_/),
        email: null,
        email_verified: false,
        phone,
        is_anonymous: false,
        created_at: expect.stringMatching(/Z$/),
      },
    })
    const claims = claimsOf(json.access_token)
    expect(claims).toMatchObject({ sub: json.user.id, role: 'authenticated', amr: ['sms'], aal: 'aal1' })
    expect([Object.hasOwn(claims, 'email'), claims.email_verified]).toEqual([false, false])
    const own = await shop.call('/auth/user', { token: json.access_token })
    expect([own.status, own.json]).toEqual([200, json.user])
    expect(await shop.sql('select role from auth.user_roles where user_id = $1', [json.user.id])).toEqual([
      { role: 'customer' },
    ])
    expect(await shop.sql('select * from public.heard')).toEqual([
      { user_id: json.user.id, email: null, data: { name: 'Ada' } },
    ])
    expect(await entries(json.user.id)).toMatchObject([
      { event_type: 'user.signed_up', details: { method: 'sms' } },
      { event_type: 'user.signed_in', details: { amr: ['sms'] } },
    ])
    const [row] = await shop.sql(
      'select phone_confirmed_at is not null as confirmed from auth.users where phone = $1',
      [phone],
    )
    expect(row).toEqual({ confirmed: true })
  })

  it('signs in the user of a known number, whom no hook hears of again', async () => {
    const { id, phone } = await person()
    await hook(`raise exception 'never' using errcode = 'P0001';`)
    const { status, json } = await verify(phone, await codeFor(phone), { data: {} })
    expect([status, json.user.id]).toEqual([200, id])
    const orders = await shop.call('/orders', { token: json.access_token })
    expect(orders.status).toBe(200)
  })

  it('is answered alike for known and unknown numbers, also with a wrong code', async () => {
    const { phone } = await person()
    const [known, unknown] = await Promise.all(
      [phone, numberOf()].map((one) => post('/auth/sign-in/phone', { phone: one })),
    )
    expect([known!.status, known!.text]).toEqual([unknown!.status, unknown!.text])
    const wrong = await Promise.all([phone, numberOf()].map((one) => verify(one, '000000')))
    expect(wrong.map(({ json }) => [json.status, json.error, json.error_description])).toEqual(
      Array.from({ length: 2 }, () => [401, 'invalid_code', 'the code is wrong, or was used already']),
    )
  })

  it('takes a number as people write it', async () => {
    const phone = numberOf('+1555')
    const typed = `${phone.slice(0, 2)} (${phone.slice(2, 5)}) ${phone.slice(5, 8)}-${phone.slice(8)}`
    expect((await post('/auth/sign-in/phone', { phone: typed })).status).toBe(202)
    const code = codeIn(await shop.mail(phone))
    const { json } = await verify(typed, `${code.slice(0, 3)} ${code.slice(3)}`)
    expect(json.user.phone).toBe(phone)
  })

  it('makes no user where sign-ups are switched off, and a known one signs in', async () => {
    const { phone } = await person()
    const stranger = numberOf()
    await settings({ sign_up_enabled: false })
    expect((await verify(stranger, await codeFor(stranger))).json).toMatchObject({
      status: 403,
      error: 'sign_up_disabled',
    })
    expect(await usersWith(stranger)).toEqual([])
    expect((await verify(phone, await codeFor(phone))).status).toBe(200)
  })

  it('leaves no user where the hook refuses, and the code is good for another attempt', async () => {
    await hook(
      `if data ->> 'invite' is null then raise exception 'an invitation is needed' using errcode = 'P0001'; end if;`,
    )
    const phone = numberOf()
    const code = await codeFor(phone)
    const refused = await verify(phone, code)
    expect(refused.json).toMatchObject({
      status: 422,
      error: 'sign_up_refused',
      error_description: 'an invitation is needed',
    })
    expect(await usersWith(phone)).toEqual([])
    expect((await verify(phone, code, { data: { invite: 'x' } })).status).toBe(200)
  })

  it('counts a sign-up against its network', async () => {
    await settings({ rate_limits: { sign_up_per_address: { attempts: 1, seconds: 3600 } } })
    const headers = { 'cf-connecting-ip': '203.0.113.7' }
    const answers = []
    for (const phone of [numberOf(), numberOf()]) {
      const code = await codeFor(phone)
      answers.push((await post('/auth/sign-in/phone/verify', { phone, code }, undefined, headers)).status)
    }
    expect(answers).toEqual([200, 429])
  })

  it('refuses a disabled user, whom only a right code tells so', async () => {
    const { id, phone, token } = await person()
    await shop.sql('update auth.users set disabled_at = now() where id = $1', [id])
    const code = await codeFor(phone)
    expect((await verify(phone, wrongFor(code))).json.error).toBe('invalid_code')
    expect((await verify(phone, code)).json).toMatchObject({ status: 403, error: 'user_disabled' })
    expect(token).toBeTruthy()
  })

  it('asks for the second factor like a password', async () => {
    const { phone, token } = await person()
    const secret = await enrol(token)
    const asked = await verify(phone, await codeFor(phone))
    expect([asked.status, asked.json]).toEqual([
      202,
      {
        mfa_required: true,
        challenge_id: expect.any(String),
        factors: [{ id: expect.stringMatching(/^fac_/), type: 'totp', label: '' }],
      },
    ])
    const body = { challenge_id: asked.json.challenge_id, code: codeOf(secret) }
    await enable('phone', false)
    expect((await post('/auth/mfa/challenge', body)).json.error).toBe('provider_disabled')
    await enable('phone', true)
    const done = await post('/auth/mfa/challenge', body)
    expect(done.status).toBe(200)
    expect(claimsOf(done.json.access_token)).toMatchObject({ aal: 'aal2', amr: expect.arrayContaining(['sms', 'otp']) })
  })

  it('gives no session to an address that must be confirmed first, and one to an account without', async () => {
    const [withAddress, without] = [await person(), await person()]
    await shop.sql('update auth.users set email = $2 where id = $1', [
      withAddress.id,
      `${withAddress.id.toLowerCase()}@example.com`,
    ])
    await settings({ confirm_email_required: true })
    const answers = []
    for (const { phone } of [withAddress, without]) answers.push(await verify(phone, await codeFor(phone)))
    expect(answers.map(({ status, json }) => [status, json.error])).toEqual([
      [403, 'email_not_confirmed'],
      [200, undefined],
    ])
  })

  it('confirms a number that was only noted down', async () => {
    const { id } = await shop.signUpConfirmed()
    const phone = numberOf()
    await shop.sql('update auth.users set phone = $2 where id = $1', [id, phone])
    expect((await verify(phone, await codeFor(phone))).json.user.id).toBe(id)
    expect(
      await shop.sql('select from auth.users where id = $1 and phone_confirmed_at is not null', [id]),
    ).toHaveLength(1)
  })
})

describe('a guest who verifies a number', () => {
  it('becomes an account of the same id: the role, the hook, and the end of the guest’s sessions', async () => {
    await shop.sql(
      'create table if not exists public.heard (user_id text, email text, data jsonb); truncate public.heard',
    )
    await hook('insert into public.heard values (user_id, email, data);')
    const { user, access_token, refresh_token } = await guest()
    const phone = numberOf()
    const { status, json } = await verify(phone, await codeFor(phone), { data: { a: 1 } }, access_token)
    expect([status, json.user]).toMatchObject([200, { id: user.id, phone, is_anonymous: false }])
    expect(claimsOf(json.access_token).role).toBe('authenticated')
    expect(await shop.sql('select user_id, data from public.heard')).toEqual([{ user_id: user.id, data: { a: 1 } }])
    expect(await shop.sql('select role from auth.user_roles where user_id = $1', [user.id])).toEqual([
      { role: 'customer' },
    ])
    expect((await post('/auth/token/refresh', { refresh_token })).status).toBe(401)
    expect((await shop.call('/auth/user', { token: access_token })).status).toBe(401)
    expect((await entries(user.id)).map(({ event_type }) => event_type)).toContain('user.upgraded')
  })

  it('of an account signs in to it, and stays a guest', async () => {
    const { phone, id } = await person()
    const { user, access_token } = await guest()
    expect((await verify(phone, await codeFor(phone), {}, access_token)).json.user.id).toBe(id)
    expect((await shop.call('/auth/user', { token: access_token })).json).toMatchObject({
      id: user.id,
      is_anonymous: true,
    })
  })

  it('a signed-in user who verifies another number keeps the own account as it is', async () => {
    const { token, id } = await shop.signUpConfirmed()
    const phone = numberOf()
    const { json } = await verify(phone, await codeFor(phone), {}, token)
    expect(json.user.id).not.toBe(id)
    expect((await shop.call('/auth/user', { token })).json.phone).toBe(null)
  })
})

describe('a code', () => {
  it('works once, however many try it at the same time', async () => {
    await settings({ rate_limits: { code_per_recipient: { attempts: 1_000, seconds: 1 } } })
    await phoneSettings({ max_attempts: 10 })
    const phone = numberOf()
    const code = await codeFor(phone)
    const answers = await thirty(() => verify(phone, code))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status >= 500)).toEqual([])
    expect(await usersWith(phone)).toHaveLength(1)
    expect((await verify(phone, code)).json.error).toBe('invalid_code')
  })

  it('of two that are valid makes one user, whichever comes first', async () => {
    const phone = numberOf()
    const codes = [await codeFor(phone)]
    await forgetLimits()
    codes.push(await codeFor(phone))
    await settings({ rate_limits: { code_per_recipient: { attempts: 1_000, seconds: 1 } } })
    await phoneSettings({ max_attempts: 10 })
    const answers = await thirty((index) => verify(phone, codes[index % 2]!))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status >= 500)).toEqual([])
    expect(await usersWith(phone)).toHaveLength(1)
  })

  it.each([
    ['five', {}, 5],
    ['as many wrong attempts as the settings say', { max_attempts: 2 }, 2],
  ])('takes %s and no more', async (_what, config, most) => {
    await phoneSettings(config)
    const [one, other] = [numberOf(), numberOf()]
    for (const [phone, tries, status] of [
      [one, most, 401],
      [other, most - 1, 200],
    ] as const) {
      const code = await codeFor(phone)
      for (let count = 0; count < tries; count++) expect((await verify(phone, wrongFor(code))).status).toBe(401)
      expect((await verify(phone, code)).status).toBe(status)
    }
  })

  it('limits guesses over all codes of a number, with 429, and writes failures down', async () => {
    const { phone, id } = await person()
    const answers = await thirty(() => verify(phone, '123456'))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(10)
    const limited = answers.filter(({ status }) => status === 429)
    expect(limited).toHaveLength(20)
    expect(Number(limited[0]!.headers.get('retry-after'))).toBeGreaterThan(0)
    const failures = (await entries(id)).filter(({ outcome }) => outcome === 'failure')
    expect(failures).toHaveLength(10)
    expect(failures[0]).toMatchObject({ event_type: 'user.sign_in_failed', details: { method: 'sms' } })
  })

  it('limits guesses over all numbers of a network', async () => {
    const headers = { 'cf-connecting-ip': '203.0.113.8' }
    const answers = await thirty(() =>
      post('/auth/sign-in/phone/verify', { phone: numberOf(), code: '123456' }, undefined, headers),
    )
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20)
  })

  it('has the length and the life that the settings say', async () => {
    await phoneSettings({ otp_length: 8, otp_ttl_seconds: 90 })
    const phone = numberOf()
    const code = await codeFor(phone)
    expect(code).toHaveLength(8)
    const [row] = await shop.sql<{ seconds: number }>(
      'select extract(epoch from code_expires_at - created_at)::int as seconds from auth.one_time_tokens where target = $1',
      [phone],
    )
    expect(row!.seconds).toBe(90)
    await shop.sql('update auth.one_time_tokens set code_expires_at = now() where target = $1', [phone])
    expect((await verify(phone, code)).json.error).toBe('invalid_code')
  })

  it('is void where the credentials of its account are revoked, and the next one signs in', async () => {
    const { id, phone } = await person()
    const code = await codeFor(phone)
    const revoked = await shop.call(`${management}/users/${id}/credentials/revoke-all`, {
      method: 'POST',
      headers: asService(),
    })
    expect(revoked.json).toMatchObject({ user_id: id, revoked: { one_time_tokens: 1 } })
    expect((await verify(phone, code)).json.error).toBe('invalid_code')
    await forgetLimits()
    expect((await verify(phone, await codeFor(phone))).json.user.id).toBe(id)
  })

  it('of a sign-in changes no number, and one of a change signs in no one', async () => {
    const { token } = await shop.signUpConfirmed()
    const phone = numberOf()
    const signInCode = await codeFor(phone)
    await forgetLimits()
    const changeCode = await codeFor(phone, '/auth/phone/change', token)
    expect((await verify(phone, changeCode)).json.error).toBe('invalid_code')
    const crossed = await post('/auth/phone/change/confirm', { phone, code: signInCode }, token)
    expect(crossed.json.error).toBe('invalid_code')
    expect((await post('/auth/phone/change/confirm', { phone, code: changeCode }, token)).status).toBe(200)
  })
})

describe('a stranger who knows a number', () => {
  it('locks its owner out of no open session', async () => {
    const owner = await person()
    const stranger = await shop.signUpConfirmed()
    await phoneSettings({ resend_seconds: 1, per_number_per_day: 2 })
    await thirty((index) =>
      index % 2 ? post('/auth/sign-in/phone', { phone: owner.phone }) : verify(owner.phone, String(100_000 + index)),
    )
    await post('/auth/phone/change', { phone: owner.phone }, stranger.token)
    await thirty(() => post('/auth/phone/change/confirm', { phone: owner.phone, code: '123456' }, stranger.token))
    expect((await shop.call('/orders', { token: owner.token })).status).toBe(200)
    const refreshed = await post('/auth/token/refresh', { refresh_token: owner.refreshToken })
    expect(refreshed.status).toBe(200)
    expect((await shop.call('/auth/user', { token: refreshed.json.access_token })).json.phone).toBe(owner.phone)
    const next = numberOf('+4479')
    const code = await codeFor(next, '/auth/phone/change', owner.token)
    expect((await post('/auth/phone/change/confirm', { phone: next, code }, owner.token)).status).toBe(200)
  })

  it('who asks for the same number uses up no code of another user', async () => {
    const [one, stranger] = [await shop.signUpConfirmed(), await shop.signUpConfirmed()]
    const phone = numberOf()
    const code = await codeFor(phone, '/auth/phone/change', one.token)
    await forgetLimits()
    const strangersCode = await codeFor(phone, '/auth/phone/change', stranger.token)
    const confirm = (token: string, given: string) => post('/auth/phone/change/confirm', { phone, code: given }, token)
    for (let count = 0; count < 15; count++) await confirm(stranger.token, wrongFor(strangersCode))
    expect((await confirm(stranger.token, code)).status).toBe(429)
    expect((await confirm(one.token, code)).status).toBe(200)
  })
})

describe('the number of an account', () => {
  const confirm = (phone: string, code: string, token: string) =>
    post('/auth/phone/change/confirm', { phone, code }, token)

  it('counts once its code has come back, signs in from then on, and the owner is told by mail', async () => {
    const { id, email, token } = await shop.signUpConfirmed()
    const phone = numberOf()
    const message = await messageFor(phone, '/auth/phone/change', token)
    expect(message).toMatchObject({ template: 'phone_change_otp', channel: 'sms' })
    expect((await shop.call('/auth/user', { token })).json.phone).toBe(null)
    const wrong = await confirm(phone, wrongFor(codeIn(message)), token)
    expect(wrong.json).toMatchObject({ status: 401, error: 'invalid_code' })
    expect((await confirm(phone, codeIn(message), token)).json).toEqual({ status: 'changed', phone })
    expect((await shop.call('/auth/user', { token })).json).toMatchObject({ phone, email })
    expect((await shop.mail(email, 'phone_changed')).text).toContain(phone)
    expect(await shop.mails(phone)).toHaveLength(1)
    expect(await entries(id)).toMatchObject([
      { event_type: 'user.signed_up' },
      { event_type: 'user.signed_in' },
      { event_type: 'phone.change_requested' },
      { event_type: 'phone.changed', outcome: 'failure' },
      { event_type: 'phone.changed', outcome: 'success' },
    ])
    await forgetLimits()
    expect((await verify(phone, await codeFor(phone))).json.user.id).toBe(id)
  })

  it('replaces the former one, whose codes and unfinished sign-ins are void', async () => {
    const { id, phone: former, token } = await person()
    const secret = await enrol(token)
    const begun = await verify(former, await codeFor(former))
    expect(begun.status).toBe(202)
    await forgetLimits()
    const formerCode = await codeFor(former)
    const next = numberOf()
    const code = await codeFor(next, '/auth/phone/change', token)
    expect((await confirm(next, code, token)).status).toBe(200)
    expect((await verify(former, formerCode)).json.error).toBe('invalid_code')
    const answer = { challenge_id: begun.json.challenge_id, code: codeOf(secret) }
    expect((await post('/auth/mfa/challenge', answer)).json.error).toBe('invalid_challenge')
    await forgetLimits()
    expect((await verify(next, await codeFor(next))).json.mfa_required).toBe(true)
    expect((await verify(former, await codeFor(former))).json.user.id).not.toBe(id)
  })

  it('is changed while people sign in with the former one: each request ends, and no account is lost', async () => {
    const { id, phone: former, token } = await person()
    const signInCode = await codeFor(former)
    const next = numberOf()
    const code = await codeFor(next, '/auth/phone/change', token)
    await settings({ rate_limits: { code_per_recipient: { attempts: 1_000, seconds: 1 } } })
    const answers = await thirty((index) => (index % 2 ? verify(former, signInCode) : confirm(next, code, token)))
    expect(answers.filter(({ status }) => status >= 500)).toEqual([])
    const changed = answers.filter(({ json }) => json.status === 'changed')
    expect([changed.length, await usersWith(next)]).toEqual([1, [{ id }]])
    expect((await usersWith(former)).length).toBeLessThanOrEqual(1)
  })

  it('that another account has is refused after the right code alone', async () => {
    const [owner, other] = [await person(), await shop.signUpConfirmed()]
    const free = await post('/auth/phone/change', { phone: numberOf() }, other.token)
    const code = await codeFor(owner.phone, '/auth/phone/change', other.token)
    expect(free.text).toBe('{"status":"sent"}')
    expect((await confirm(owner.phone, wrongFor(code), other.token)).json).toMatchObject({ status: 401 })
    expect((await confirm(owner.phone, code, other.token)).json).toMatchObject({ status: 409, error: 'phone_taken' })
    expect((await shop.call('/auth/user', { token: other.token })).json.phone).toBe(null)
    expect(await usersWith(owner.phone)).toEqual([{ id: owner.id }])
  })

  it('goes to one of two accounts that have both proved it', async () => {
    const people = [await shop.signUpConfirmed(), await shop.signUpConfirmed()]
    const phone = numberOf()
    const codes: string[] = []
    for (const { token } of people) {
      codes.push(await codeFor(phone, '/auth/phone/change', token))
      await forgetLimits()
    }
    const answers = await thirty((index) => confirm(phone, codes[index % 2]!, people[index % 2]!.token))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status >= 500)).toEqual([])
    expect(await usersWith(phone)).toHaveLength(1)
  })

  it('is changed by a person who has just signed in, and by no guest', async () => {
    const { id, phone, refreshToken } = await person()
    await shop.sql(`update auth.sessions set auth_time = now() - interval '11 minutes' where user_id = $1`, [id])
    const { json } = await post('/auth/token/refresh', { refresh_token: refreshToken })
    const old = await post('/auth/phone/change', { phone: numberOf() }, json.access_token)
    expect(old.json).toMatchObject({ status: 403, error: 'recent_sign_in_required' })
    expect((await remove(json.access_token)).json.error).toBe('recent_sign_in_required')
    const { access_token } = await guest()
    for (const token of [access_token, undefined]) {
      expect((await post('/auth/phone/change', { phone }, token)).status).toBe(401)
      expect((await post('/auth/phone/change/confirm', { phone, code: '123456' }, token)).status).toBe(401)
    }
  })

  it('is refused where it is the present one', async () => {
    const { phone, token } = await person()
    expect((await post('/auth/phone/change', { phone }, token)).json).toMatchObject({
      status: 400,
      error: 'same_phone',
    })
  })

  it('is removed where there is another way in, and never the last one', async () => {
    const only = await person()
    expect((await remove(only.token)).json).toMatchObject({ status: 409, error: 'last_way_in' })
    expect((await shop.call('/auth/user', { token: only.token })).json.phone).toBe(only.phone)
    const { id, email, token } = await shop.signUpConfirmed()
    const phone = numberOf()
    const code = await codeFor(phone, '/auth/phone/change', token)
    await confirm(phone, code, token)
    const statuses = (await thirty(() => remove(token))).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([204]))
    expect((await shop.call('/auth/user', { token })).json.phone).toBe(null)
    expect((await shop.mail(email, 'identity_unlinked')).text).toContain(phone)
    const removals = (await entries(id)).filter(({ event_type }) => event_type === 'phone.removed')
    expect(removals).toHaveLength(1)
  })

  it('is removed where the address is confirmed, while addresses sign in', async () => {
    const { id, token } = await person()
    await shop.sql(`update auth.users set email = $2, email_confirmed_at = now() where id = $1`, [
      id,
      `${id.toLowerCase()}@example.com`,
    ])
    await enable('email', false)
    expect((await remove(token)).json.error).toBe('last_way_in')
    await enable('email', true)
    expect((await remove(token)).status).toBe(204)
  })
})

describe('numbers', () => {
  it.each(
    titled([
      ['+491511234567'],
      ['+49 151 1234567'],
      ['+49-151-123-4567'],
      ['+49 (151) 1234567'],
      ['+1234567'],
      ['+123456789012345'],
    ]),
  )('%s is one', async (_title, phone) => {
    await forgetLimits()
    expect((await post('/auth/sign-in/phone', { phone })).status).toBe(202)
  })

  it.each(
    titled([
      ['491511234567'],
      ['00491511234567'],
      ['+0491511234567'],
      ['+123456'],
      ['+1234567890123456'],
      ['+49 (0)151 1234567'],
      ['+49.151.1234567'],
      ['+49/1511234567'],
      ['+49151123456x'],
      ['+49151123456;ext=7'],
      ['tel:+491511234567'],
      ['++491511234567'],
      ['+49+1511234567'],
      ['+４９１５１１２３４５６７'],
      ['+٤٩١٥١١٢٣٤٥٦٧'],
      ['+49\u00a01511234567'],
      ['+491511234567\n'],
      ['+491511234567\u0000'],
      ['\u202e+491511234567'],
      ['+'],
      [''],
      [' '.repeat(10_000)],
      [`+${'1'.repeat(10_000)}`],
      ["+49151'; drop table auth.users; --"],
      ['\ud800+491511234567'],
    ]),
  )('%j is none', async (_title, phone) => {
    const { token } = await shared()
    for (const answer of [
      await post('/auth/sign-in/phone', { phone }),
      await verify(phone, '123456'),
      await post('/auth/phone/change', { phone }, token),
      await post('/auth/phone/change/confirm', { phone, code: '123456' }, token),
    ])
      expect(answer.json).toMatchObject({ status: 400, error: 'invalid_request', fields: [{ path: 'phone' }] })
  })

  it.each(
    titled([
      [null],
      [true],
      [1e300],
      [['+491511234567']],
      [{ toString: '+491511234567' }],
      [{ __proto__: null, $gt: '' }],
    ]),
  )('%s is none, and no code either', async (_title, value) => {
    for (const answer of [
      await post('/auth/sign-in/phone', { phone: value }),
      await post('/auth/sign-in/phone/verify', { phone: '+491511234567', code: value }),
      await post('/auth/sign-in/phone/verify', { phone: '+491511234567', code: '123456', data: [value] }),
    ])
      expect(answer.json).toMatchObject({ status: 400, error: 'invalid_request' })
  })

  it.each(
    titled([
      [''],
      ['123'],
      ['12345678901'],
      ['12345x'],
      ['１２３４５６'],
      ['123456\u0000'],
      ['-'.repeat(10_000)],
      ["' or 1=1"],
    ]),
  )('%j is no code', async (_title, code) => {
    const { token } = await shared()
    for (const answer of [
      await verify('+491511234567', code),
      await post('/auth/phone/change/confirm', { phone: '+491511234567', code }, token),
    ])
      expect(answer.json).toMatchObject({ status: 400, error: 'invalid_request', fields: [{ path: 'code' }] })
  })

  it('a body has its fields and no others, and data of at most 4 KiB', async () => {
    const phone = numberOf()
    const bodies = [
      {},
      { phone, code: '123456', more: 1 },
      { phone, code: '123456', data: { text: 'a'.repeat(4_096) } },
    ]
    for (const body of bodies)
      expect((await post('/auth/sign-in/phone/verify', body)).json.error).toBe('invalid_request')
    expect((await post('/auth/sign-in/phone', { phone, token: 'x' })).json.error).toBe('invalid_request')
  })

  let known: { token: string } | undefined
  /** One user for many refusals. */
  async function shared() {
    known ??= await shop.signUpConfirmed()
    return known
  }
})

describe('messages cost money, so', () => {
  it('only allowed prefixes get one, and a refusal is the same for known and unknown numbers', async () => {
    const { phone, token } = await person()
    await phoneSettings({ allowed_prefixes: ['+4479', '+1'] })
    const refused = [
      await post('/auth/sign-in/phone', { phone }),
      await post('/auth/sign-in/phone', { phone: numberOf() }),
      await post('/auth/phone/change', { phone: numberOf() }, token),
    ]
    expect(refused.map(({ json: { request_id, ...body } }) => body)).toEqual(
      Array.from({ length: 3 }, () => ({
        error: 'phone_not_allowed',
        error_description: 'codes are not sent to this phone number here',
        status: 422,
      })),
    )
    expect((await post('/auth/sign-in/phone', { phone: numberOf('+4479') })).status).toBe(202)
    for (const allowed_prefixes of [[], ['+']]) {
      await storePhoneSettings({ allowed_prefixes })
      expect((await post('/auth/sign-in/phone', { phone: numberOf('+99') })).status).toBe(202)
    }
  })

  it('a number gets one in an interval, known or not, however many ask at the same time', async () => {
    const { phone } = await person()
    for (const one of [phone, numberOf()]) {
      const before = (await shop.mails(one)).length
      const answers = await thirty(() => post('/auth/sign-in/phone', { phone: one }))
      expect(answers.filter(({ status }) => status === 202)).toHaveLength(1)
      const limited = answers.filter(({ status }) => status === 429)
      expect(limited).toHaveLength(29)
      const wait = Number(limited[0]!.headers.get('retry-after'))
      expect([wait > 0, wait <= 60]).toEqual([true, true])
      await vi.waitUntil(async () => (await shop.mails(one)).length > before, { timeout: 10_000 })
      expect(await shop.mails(one)).toHaveLength(before + 1)
    }
  })

  it('a number gets so many in a day, by sign-in and change together', async () => {
    await phoneSettings({ per_number_per_day: 3 })
    await settings({ rate_limits: { sms_interval: { attempts: 10_000, seconds: 1 } } })
    const { token } = await shop.signUpConfirmed()
    const phone = numberOf()
    const statuses = []
    for (const address of ['/auth/sign-in/phone', '/auth/phone/change', '/auth/sign-in/phone', '/auth/phone/change'])
      statuses.push((await post(address, { phone }, token)).status)
    expect(statuses).toEqual([202, 202, 202, 429])
    expect((await post('/auth/sign-in/phone', { phone: numberOf() })).status).toBe(202)
  })

  it('a network gets so many in an hour, and another network has its own', async () => {
    await settings({ rate_limits: { sms_per_address: { attempts: 5, seconds: 3600 } } })
    const from = (ip: string) =>
      post('/auth/sign-in/phone', { phone: numberOf() }, undefined, { 'cf-connecting-ip': ip })
    const answers = await thirty(() => from('203.0.113.9'))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(5)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(25)
    expect((await from('198.51.100.9')).status).toBe(202)
  })

  it('a range of numbers gets so many in an hour from all networks, and the others go on', async () => {
    await settings({ rate_limits: { sms_per_prefix: { attempts: 7, seconds: 3600 } } })
    const numbers = Array.from({ length: 30 }, () => numberOf('+8821'))
    const answers = await thirty((index) =>
      post('/auth/sign-in/phone', { phone: numbers[index]! }, undefined, {
        'cf-connecting-ip': `203.0.113.${index + 20}`,
      }),
    )
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(7)
    const refused = answers.findIndex(({ status }) => status === 429)
    expect(Number(answers[refused]!.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await post('/auth/sign-in/phone', { phone: numberOf('+8822') })).status).toBe(202)
    // the refusal took nothing from the number itself
    await settings({})
    expect((await post('/auth/sign-in/phone', { phone: numbers[refused]! })).status).toBe(202)
  })

  it('the audit trail tells the prefix and not the number', async () => {
    const phone = numberOf()
    await post('/auth/sign-in/phone', { phone })
    const rows = await shop.sql<{ details: object }>(
      `select details from auth.audit where event_type = 'phone.code_requested' order by id desc limit 1`,
    )
    expect(rows).toEqual([{ details: { prefix: phone.slice(0, 5) } }])
  })
})

describe('what a text message says', () => {
  const store = (key: string, body: string) =>
    shop.sql('insert into auth.templates (key, body) values ($1, $2)', [key, body])
  /** As a start declares the templates of the project. */
  const declare = (key: string, body: string) =>
    shop.sql(
      `insert into auth.project_templates (key, channel, body, variables) values ($1, 'sms', $2, '[{ "name": "code", "required": true }]')`,
      [key, body],
    )

  it('is the built-in text, a changed one, or the one that the settings name', async () => {
    await settings({ site_name: 'Shop' })
    const texts = []
    const config = { from: 'Shop', template_key: 'our_code' }
    for (const prepare of [
      async () => {},
      () => store('phone_otp', 'Code {{code}} <{{expires_minutes}} min> & {{email}}|{{user_id}}'),
      () => phoneSettings(config),
      () => declare('our_code', 'No variable'),
      () => shop.sql(`update auth.project_templates set body = 'Declared: {{code}}' where key = 'our_code'`),
      () => store('our_code', 'Ours: {{ code }}'),
      () => phoneSettings({ ...config, template_key: 'reset_password' }),
    ]) {
      await prepare()
      const { text, from } = await messageFor(numberOf())
      texts.push([from, text.replace(/\d{6}/, '######')])
    }
    expect(texts).toEqual([
      ['', '###### is your code for Shop. Give it to no one.'],
      ['', 'Code ###### <5 min> & |'],
      ['Shop', 'Code ###### <5 min> & |'],
      ['Shop', 'Code ###### <5 min> & |'],
      ['Shop', 'Declared: ######'],
      ['Shop', 'Ours: ######'],
      ['Shop', 'Code ###### <5 min> & |'],
    ])
  })

  it('is in the mailbox of the local stack, also where the driver is the console, and never in the log', async () => {
    await phoneSettings({ driver: 'console' })
    const phone = numberOf()
    const code = await codeFor(phone)
    expect((await verify(phone, code)).status).toBe(200)
    const rows = await shop.sql<{ row: string }>(
      `select to_jsonb(outbox)::text as row from auth.outbox union all select to_jsonb(one_time_tokens)::text from auth.one_time_tokens`,
    )
    const dump = rows.map(({ row }) => row).join('\n')
    expect([dump.includes(`"${code}"`), JSON.stringify(shop.log).includes(` ${code} `)]).toEqual([false, false])
  })
})

describe('a gateway', () => {
  const run = () =>
    shop.call('/cdn-cgi/stack/cron', { method: 'POST', headers: asService(), json: { name: 'Delivery.deliverDue' } })
  const rowOf = async (phone: string) =>
    (
      await shop.sql<{ status: string; attempts: number; last_error: string | null }>(
        'select status, attempts, last_error from auth.outbox where recipient = $1',
        [phone],
      )
    )[0]!
  const isSettled = (phone: string, error: RegExp) =>
    vi.waitUntil(async () => error.test((await rowOf(phone)).last_error ?? ''), { timeout: 60_000, interval: 200 })
  /** The schedule of the stack itself may have taken a message that is due, so the test waits for the result. */
  const hasStatus = (phone: string, status: string) =>
    vi.waitUntil(async () => (await rowOf(phone)).status === status, { timeout: 60_000, interval: 200 })
  const age = (phone: string) =>
    shop.sql('update auth.outbox set next_attempt_at = now() where recipient = $1', [phone])

  /** Answers the requests one after the other, each with its own answer, and the last answer again and again. */
  async function gateway(answers: ((response: http.ServerResponse) => void)[]) {
    const taken: { headers: http.IncomingHttpHeaders; body: string; url: string | undefined }[] = []
    const server = http.createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      taken.push({ headers: request.headers, body, url: request.url })
      answers[Math.min(taken.length, answers.length) - 1]!(response)
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    onTestFinished(async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    })
    return { taken, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/send` }
  }

  it('that hangs, fails and redirects gets the message again until it takes it', async () => {
    const { taken, url } = await gateway([
      () => {}, // no answer at all
      (response) => response.writeHead(503).end('busy'),
      (response) => response.writeHead(307, { location: '/elsewhere' }).end(),
      (response) => response.destroy(),
      (response) => response.writeHead(202).end('{}'),
    ])
    await phoneSettings({ driver: 'http', url, from: '+15550100', credential_ref: 'gateway' })
    const phone = numberOf()
    expect((await post('/auth/sign-in/phone', { phone })).status).toBe(202)
    await isSettled(phone, /"gateway" of the sender is not stored/)
    expect(taken).toEqual([])
    const secret = 'the token of the gateway'
    const stored = await shop.call(`${management}/providers/phone/credentials/gateway`, {
      method: 'PUT',
      json: { provider: 'phone', kind: 'sender_secret', secret },
      headers: asService(),
    })
    expect(stored.status).toBe(200)
    await age(phone)
    const hanging = run()
    await vi.waitUntil(() => taken.length === 1, { timeout: 30_000 })
    // no connection of the database waits with the gateway
    const others = await thirty(() => shop.call('/auth/anonymous', { method: 'POST' }))
    expect(new Set(others.map(({ status }) => status))).toEqual(new Set([200]))
    await hanging
    await isSettled(phone, /does not answer/)
    for (const error of [/answered 503/, /answered 307/, /does not answer/]) {
      await age(phone)
      await run()
      await isSettled(phone, error)
      expect((await rowOf(phone)).status).toBe('queued')
    }
    await age(phone)
    await run()
    await hasStatus(phone, 'sent')
    expect((await rowOf(phone)).attempts).toBe(6)
    expect(taken.map(({ url }) => url)).toEqual(Array.from({ length: 5 }, () => '/send'))
    const messages = taken.map(({ body }) => JSON.parse(body))
    expect(new Set(messages.map(({ id }) => id)).size).toBe(1)
    expect(messages.at(-1)).toEqual({
      id: expect.stringMatching(/^msg_/),
      template: 'phone_otp',
      channel: 'sms',
      to: phone,
      from: '+15550100',
      reply_to: null,
      subject: '',
      text: expect.stringMatching(/^\d{6} is your code/),
      html: '',
    })
    expect(taken[0]!.headers).toMatchObject({
      authorization: 'Bearer the token of the gateway',
      'content-type': 'application/json',
    })
    expect((await verify(phone, codeIn(messages.at(-1)))).status).toBe(200)
    expect(JSON.stringify(shop.log)).not.toContain(secret)
  })

  it('that refuses the message for good gets it once', async () => {
    const { taken, url } = await gateway([(response) => response.writeHead(422).end('no such number')])
    await phoneSettings({ driver: 'http', url })
    const phone = numberOf()
    await post('/auth/sign-in/phone', { phone })
    await hasStatus(phone, 'dead')
    await age(phone)
    await run()
    expect(taken).toHaveLength(1)
    expect(taken[0]!.headers.authorization).toBeUndefined()
  })

  it('gets no code that nobody waits for any more, and none after phone was disabled', async () => {
    const { taken, url } = await gateway([(response) => response.writeHead(503).end()])
    await phoneSettings({ driver: 'http', url })
    const [late, disabled] = [numberOf(), numberOf()]
    for (const phone of [late, disabled]) {
      await post('/auth/sign-in/phone', { phone })
      await isSettled(phone, /503/)
    }
    await shop.sql(`update auth.outbox set created_at = now() - interval '16 minutes' where recipient = $1`, [late])
    await age(late)
    await run()
    await enable('phone', false)
    await age(disabled)
    await run()
    for (const phone of [late, disabled]) await hasStatus(phone, 'dropped')
    expect(taken).toHaveLength(2)
  })
})

/** Gives an account a verified second factor. Its first code was of the time step before, so that the current code is unused. */
async function enrol(token: string): Promise<string> {
  const { json } = await post('/auth/mfa/totp/enrol', {}, token)
  const verified = await post(
    '/auth/mfa/totp/verify',
    { factor_id: json.factor_id, code: codeOf(json.secret, -1) },
    token,
  )
  expect(verified.status).toBe(200)
  return json.secret
}
