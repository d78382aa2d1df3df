/**
 * What decides in sign-in with phone numbers and in their change (contract 9, "Phone"): classes of the auth module in Node against a real
 * Postgres.
 */
import * as v from 'valibot'
import { beforeEach, describe, expect, it, vi } from 'vitest'

vi.mock('@stack/backend', async (original) => (await import('../support/auth-module.ts')).withoutDecorators(original))

import { Audit } from '../../src/auth/audit/rows.ts'
import { SigningKeys } from '../../src/auth/keys/rows.ts'
import { Limits } from '../../src/auth/limits/rows.ts'
import { SignUps } from '../../src/auth/limits/sign-ups.ts'
import type { NewMessage } from '../../src/auth/mail/outbox.ts'
import { OneTimeTokens, type Purpose } from '../../src/auth/mail/tokens.ts'
import { Challenges, Factors } from '../../src/auth/mfa/rows.ts'
import { SecondStep } from '../../src/auth/mfa/second-step.ts'
import { TextAdmission } from '../../src/auth/phones/admission.ts'
import { PhonesController } from '../../src/auth/phones/routes.ts'
import { Phones } from '../../src/auth/phones/rows.ts'
import { phoneBody, verification } from '../../src/auth/phones/schemas.ts'
import { PhoneSignInController } from '../../src/auth/phones/sign-in.ts'
import { PhoneSettingsReader } from '../../src/auth/providers/phone-settings.ts'
import { ProviderStates, Providers } from '../../src/auth/providers/rows.ts'
import { Sessions } from '../../src/auth/sessions/rows.ts'
import { SignIn } from '../../src/auth/sessions/sign-in.ts'
import { Tokens } from '../../src/auth/sessions/tokens.ts'
import { SettingsRows } from '../../src/auth/settings/rows.ts'
import { Users } from '../../src/auth/users/rows.ts'
import type { UserT } from '../../src/sdk/user.ts'
import { useAuthModule } from '../support/auth-module.ts'
import { titled } from '../support/titles.ts'

const { request, codeOf, atOnce, sql } = useAuthModule()

const queued: NewMessage[] = []
const told: string[] = []
const delivery = { queue: async (message: NewMessage) => void queued.push(message) } as never
const notices = { toUser: async (_user: unknown, template: string) => void told.push(template) } as never
const audit = new Audit()
const limits = new Limits()
const settings = new SettingsRows()
const states = new ProviderStates()
const phoneSettings = new PhoneSettingsReader(new Providers())
const sessions = new Sessions()
const users = new Users()
const challenges = new Challenges()
const oneTime = new OneTimeTokens(limits, settings)
const phones = new Phones(users)
const signIns = new SignIn(audit, notices, sessions, new Tokens(new SigningKeys()), users)
const secondStep = new SecondStep(challenges, new Factors(), sessions, signIns)
const admission = new TextAdmission(limits, phoneSettings, states, settings)
const signUps = new SignUps(limits, settings)
const own = new PhonesController(
  ...([admission, audit, challenges, delivery, notices, phones, phoneSettings, states] as const),
  ...([sessions, settings, oneTime, users] as const),
)
const signIn = new PhoneSignInController(
  ...([admission, audit, delivery, limits, phones, phoneSettings, states] as const),
  ...([secondStep, sessions, settings, signIns, signUps, oneTime] as const),
)

const from = (ip: string) => new Request('https://stack.example/auth', { headers: { 'cf-connecting-ip': ip } })
const http = from('192.0.2.7')
let count = 0
let id: string
let number: string
let claims: { sub: string; role: string; session_id: string; auth_time: number }

beforeEach(async () => {
  queued.length = 0
  told.length = 0
  id = `usr_${count++}`
  number = numberOf()
  claims = { sub: id, role: 'authenticated', session_id: 'ses_own', auth_time: Math.floor(Date.now() / 1000) }
  await sql(`delete from auth.one_time_tokens; delete from auth.rate_limits; delete from stack.audit;
    update auth.settings set document = '{}'; update auth.providers set enabled = true, config = '{}' where kind <> 'oauth'`)
  await sql('insert into auth.users (id, email, email_confirmed_at) values ($1, $2, now())', [id, `${id}@example.com`])
})

let numbers = 10_000_000
const numberOf = (prefix = '+4915') => `${prefix}${numbers++}`
const configure = (document: object) => sql('update auth.settings set document = $1', [document])
const limit = (name: string, attempts: number) => configure({ rate_limits: { [name]: { attempts, seconds: 86_400 } } })
const phone = (config: object, enabled = true) =>
  sql(`update auth.providers set config = $1, enabled = $2 where name = 'phone'`, [config, enabled])
const prove = (phoneNumber: string) =>
  sql('update auth.users set phone = $2, phone_confirmed_at = now() where id = $1', [id, phoneNumber])
const codeFor = async (target: string, purpose: Purpose = 'phone_sign_in', userId: string | null = null) =>
  (await request(() => oneTime.issue({ purpose, userId, target }, 300, { seconds: 300, digits: 6 }))).code
const wrong = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0')
const verifying = (target: string, code: string, client = http) =>
  signIn.verify({ phone: target, code, data: {} }, client, 'req_1')
const verify = (target: string, code: string, as?: object, client = http) =>
  request(() => verifying(target, code, client), as)
const verified = (target: string, code: string, as?: object, client = http) =>
  codeOf(() => verifying(target, code, client), as)
const ask = (target: string, client = http) => codeOf(() => signIn.requestCode({ phone: target }, client, 'req_1'))
const change = (target: string, as: object = claims) => codeOf(() => own.change({ phone: target }, http, 'req_1'), as)
const confirming = (target: string, code: string) => own.confirmChange({ phone: target, code }, http, 'req_1')
const confirm = (target: string, code: string, as: object = claims) => codeOf(() => confirming(target, code), as)
const remove = (as: object = claims) => codeOf(() => own.remove({ id } as UserT, http, 'req_1'), as)
const phoneOf = async (userId = id) =>
  (await sql<{ phone: string | null }>('select phone from auth.users where id = $1', [userId]))[0]!.phone
const events = async () =>
  (await sql<{ event_type: string; outcome: string }>('select event_type, outcome from stack.audit order by id')).map(
    ({ event_type, outcome }) => `${event_type} ${outcome}`,
  )
const guest = async () => {
  await sql('update auth.users set is_anonymous = true, email = null, email_confirmed_at = null where id = $1', [id])
  return { ...claims, role: 'anon' }
}

describe('a message to a number', () => {
  it('is asked of an enabled provider, with one entry that has no number', async () => {
    expect(await ask(number)).toBe('done')
    expect(queued).toEqual([{ template: 'phone_otp', channel: 'sms', recipient: number, userId: null }])
    const [entry] = await sql<{ entry: string }>('select to_jsonb(one)::text as entry from stack.audit one')
    expect([entry!.entry.includes(number), entry!.entry.includes(`"${number.slice(0, 5)}"`)]).toEqual([false, true])
    await phone({}, false)
    expect([await ask(numberOf()), await change(numberOf())]).toEqual(['provider_disabled', 'provider_disabled'])
    expect([await confirm(number, '123456'), await verified(number, '123456'), await remove()]).toEqual(
      Array(3).fill('provider_disabled'),
    )
  })

  it('has its interval and its number in a day, as the settings say', async () => {
    await phone({ resend_seconds: 60, per_number_per_day: 10 })
    expect([await ask(number), await ask(number), await ask(numberOf('+4916'))]).toEqual([
      'done',
      'rate_limited',
      'done',
    ])
    await sql('delete from auth.rate_limits')
    await limit('sms_interval', 100)
    await phone({ per_number_per_day: 2 })
    expect([await ask(number), await ask(number), await ask(number)]).toEqual(['done', 'done', 'rate_limited'])
  })

  it('counts against the network that asks', async () => {
    await limit('sms_per_address', 1)
    const codes = [await ask(numberOf()), await ask(numberOf()), await ask(numberOf(), from('198.51.100.7'))]
    expect(codes).toEqual(['done', 'rate_limited', 'done'])
  })

  it('counts against the range of its number, and a refusal takes nothing from the number', async () => {
    await limit('sms_per_prefix', 1)
    const refused = numberOf('+4917')
    const codes = [await ask(numberOf('+4917')), await ask(refused), await ask(numberOf('+4918'))]
    expect(codes).toEqual(['done', 'rate_limited', 'done'])
    await configure({})
    expect(await ask(refused)).toBe('done')
  })
})

describe('a code', () => {
  it('makes one account of a number, and signs in to it from then on', async () => {
    const code = await codeFor(number)
    expect(await verify(number, code)).toMatchObject({ user: { phone: number, is_anonymous: false } })
    expect(await verified(number, code)).toBe('invalid_code')
    expect(await verify(number, await codeFor(number))).toMatchObject({ user: { phone: number } })
    expect(await sql('select from auth.users where phone = $1', [number])).toHaveLength(1)
    expect(await events()).toEqual([
      'user.signed_up success',
      'user.signed_in success',
      'user.sign_in_failed failure',
      'user.signed_in success',
    ])
  })

  it('of one that is right, thirty at once sign in one time', async () => {
    await configure({ rate_limits: { code_per_recipient: { attempts: 1_000, seconds: 1 } } })
    await phone({ max_attempts: 100 })
    await prove(number)
    const code = await codeFor(number)
    const codes = await atOnce('auth.users', (n) => verifying(number, code, from(`198.51.100.${n}`)))
    expect(codes.filter((one) => one !== 'invalid_code')).toEqual(['done'])
  })

  it('takes as many wrong attempts as the settings say, which the trail has with the account', async () => {
    await phone({ max_attempts: 2 })
    await prove(number)
    const code = await codeFor(number)
    for (let time = 0; time < 2; time++) expect(await verified(number, wrong(code))).toBe('invalid_code')
    expect(await verified(number, code)).toBe('invalid_code')
    const [entry] = await sql('select event_type, target_id, ip from stack.audit limit 1')
    expect(entry).toMatchObject({ event_type: 'user.sign_in_failed', target_id: id })
  })

  it('is tried so often from one network', async () => {
    await limit('sign_in_per_address', 1)
    const codes = [await verified(number, '123456'), await verified(numberOf(), '123456')]
    expect([...codes, await verified(number, '123456', undefined, from('198.51.100.7'))]).toEqual([
      'invalid_code',
      'rate_limited',
      'invalid_code',
    ])
  })

  it('opens no disabled account, and none whose address waits for its confirmation', async () => {
    await prove(number)
    await sql('update auth.users set email_confirmed_at = null where id = $1', [id])
    expect(await verified(number, await codeFor(number))).toBe('done')
    await configure({ confirm_email_required: true })
    expect(await verified(number, await codeFor(number))).toBe('email_not_confirmed')
    await sql('update auth.users set email = null where id = $1', [id])
    expect(await verified(number, await codeFor(number))).toBe('done')
    await sql('update auth.users set disabled_at = now() where id = $1', [id])
    expect(await verified(number, await codeFor(number))).toBe('user_disabled')
  })

  it('confirms the number, and asks for the second factor of its account', async () => {
    await sql('update auth.users set phone = $2 where id = $1', [id, number])
    await sql(
      `insert into auth.mfa_factors (id, user_id, type, status, label, sealed_secret) values ($1, $2, 'totp', 'verified', '', 'x')`,
      [`fac_${id}`, id],
    )
    const answer = (await verify(number, await codeFor(number))) as Response
    expect([answer.status, await answer.json()]).toMatchObject([202, { mfa_required: true }])
    expect(await sql('select from auth.users where id = $1 and phone_confirmed_at is not null', [id])).toHaveLength(1)
  })

  it('makes no account where sign-ups are switched off, or too many', async () => {
    await limit('sign_up_per_address', 1)
    const codes = [await verified(number, await codeFor(number))]
    const other = numberOf()
    codes.push(await verified(other, await codeFor(other)))
    await configure({ sign_up_enabled: false })
    codes.push(await verified(other, await codeFor(other)), await verified(number, await codeFor(number)))
    expect(codes).toEqual(['done', 'rate_limited', 'sign_up_disabled', 'done'])
  })

  it('makes an account of a guest, whose sessions end, and of no account another one', async () => {
    const as = await guest()
    await sql(
      `insert into auth.sessions (id, user_id, expires_at, aal, amr) values ($1, $2, now() + interval '1 day', 'aal1', '[]')`,
      ['ses_own', id],
    )
    expect(await verify(number, await codeFor(number), as)).toMatchObject({ user: { id, is_anonymous: false } })
    expect(await sql(`select end_reason from auth.sessions where id = 'ses_own'`)).toEqual([
      { end_reason: 'signed_out' },
    ])
    const other = numberOf('+4916')
    expect(await verified(other, await codeFor(other), as)).toBe('not_anonymous')
    expect(await verify(other, await codeFor(other), claims)).not.toMatchObject({ user: { id } })
    expect(await events()).toContain('user.upgraded success')
  })

  it('makes no account of a disabled guest', async () => {
    const as = await guest()
    await sql('update auth.users set disabled_at = now() where id = $1', [id])
    expect(await verified(number, await codeFor(number), as)).toBe('not_anonymous')
  })
})

describe('the number of an account', () => {
  const longAgo = () => ({ ...claims, auth_time: claims.auth_time - 700 })

  it('is asked for after a recent sign-in, with a confirmed address, and where it is another one', async () => {
    await prove(number)
    const next = numberOf('+4916')
    expect([await change(next), await change(number), await change(next, longAgo())]).toEqual([
      'done',
      'same_phone',
      'recent_sign_in_required',
    ])
    expect(queued).toEqual([{ template: 'phone_change_otp', channel: 'sms', recipient: next, userId: id }])
    await sql('update auth.users set email_confirmed_at = null where id = $1', [id])
    expect(await change(next)).toBe('email_not_confirmed')
    expect(await events()).toEqual(['phone.change_requested success'])
  })

  it('is changed by its code, and the owner is told', async () => {
    await prove(number)
    const next = numberOf('+4916')
    const code = await codeFor(next, 'phone_change', id)
    expect([await confirm(next, wrong(code)), await confirm(next, code), await confirm(next, code)]).toEqual([
      'invalid_code',
      'done',
      'invalid_code',
    ])
    expect([await phoneOf(), told]).toEqual([next, ['phone_changed']])
    expect(await events()).toEqual(['phone.changed failure', 'phone.changed success', 'phone.changed failure'])
  })

  it('ends what was begun with the former one', async () => {
    await prove(number)
    const [other, next] = [numberOf('+4916'), numberOf('+4918')]
    const [former, pending, code] = [
      await codeFor(number),
      await codeFor(other, 'phone_change', id),
      await codeFor(next, 'phone_change', id),
    ]
    const challenge = await request(() => challenges.begin(id, ['sms']))
    expect(await confirm(next, code)).toBe('done')
    expect([await verified(number, former), await confirm(other, pending)]).toEqual(['invalid_code', 'invalid_code'])
    expect(await sql('select from auth.mfa_challenges where id = $1', [challenge])).toEqual([])
  })

  it('is changed while people sign in with the former one: each request ends', async () => {
    await configure({ rate_limits: { code_per_recipient: { attempts: 1_000, seconds: 1 } } })
    await phone({ max_attempts: 100 })
    await prove(number)
    const next = numberOf('+4916')
    const [signInCode, code] = [await codeFor(number), await codeFor(next, 'phone_change', id)]
    const codes = await atOnce(
      'auth.users',
      (n) => (n % 2 ? verifying(number, signInCode, from(`198.51.100.${n}`)) : confirming(next, code)),
      (n) => (n % 2 ? undefined : claims),
    )
    expect(codes.filter((_, index) => index % 2 === 0 && codes[index] === 'done')).toHaveLength(1)
    expect(await phoneOf()).toBe(next)
  })

  it('is no other account’s, and a disabled account gets none', async () => {
    await sql('insert into auth.users (id, phone, phone_confirmed_at) values ($1, $2, now())', [`usr_x${id}`, number])
    expect(await confirm(number, await codeFor(number, 'phone_change', id))).toBe('phone_taken')
    expect([await phoneOf(), await phoneOf(`usr_x${id}`)]).toEqual([null, number])
    const next = numberOf('+4916')
    const code = await codeFor(next, 'phone_change', id)
    await sql('update auth.users set disabled_at = now() where id = $1', [id])
    expect(await confirm(next, code)).toBe('invalid_code')
  })

  it('that is taken leaves the transaction as it was', async () => {
    await sql('insert into auth.users (id, phone) values ($1, $2)', [`usr_x${id}`, number])
    const after = await request(async () => {
      const moved = await phones.move(id, number)
      return [moved, (await users.byId(id))?.id]
    })
    expect(after).toEqual([undefined, id])
  })

  it('has codes of its own for each account that asks for it, with attempts of their own', async () => {
    await phone({ max_attempts: 2 })
    const code = await codeFor(number, 'phone_change', id)
    await sql('insert into auth.users (id) values ($1)', [`usr_x${id}`])
    const strangers = await codeFor(number, 'phone_change', `usr_x${id}`)
    const stranger = { ...claims, sub: `usr_x${id}` }
    for (let time = 0; time < 3; time++) expect(await confirm(number, wrong(strangers), stranger)).toBe('invalid_code')
    expect(await confirm(number, code)).toBe('done')
  })

  it('is removed after a recent sign-in, told and recorded once, and never as the last way in', async () => {
    await prove(number)
    expect(await remove(longAgo())).toBe('recent_sign_in_required')
    const former = await codeFor(number)
    expect([await remove(), await remove(), await phoneOf()]).toEqual(['done', 'done', null])
    expect([told, await events()]).toEqual([['identity_unlinked'], ['phone.removed success']])
    expect(await verified(number, former)).toBe('invalid_code')
    await prove(number)
    await sql(`update auth.users set email_confirmed_at = null where id = $1`, [id])
    expect([await remove(), await phoneOf()]).toEqual(['last_way_in', number])
  })
})

describe('what a client sends as a number', () => {
  it.each(
    titled([
      [{ phone: '+49 (151) 123-4567' }, true],
      [{ phone: '+49 (0)151 1234567' }, false],
      [{ phone: '+49 ( 0 )151 1234567' }, false],
      [{ phone: '491511234567' }, false],
      [{ phone: '+49.151.1234567' }, false],
      [{ phone: `+49${' '.repeat(40)}1511234567` }, false],
      [{ phone: '+491511234567', code: '123456' }, false],
    ]),
  )('%s', (_title, given, isAccepted) => expect(v.safeParse(phoneBody, given).success).toBe(isAccepted))

  it.each(
    titled([
      [{}, true],
      [{ data: { a: 1 } }, true],
      [{ data: [1] }, false],
      [{ data: { a: 'a'.repeat(4_096) } }, false],
      [{ more: 1 }, false],
    ]),
  )('with a code and %s', (_title, more, isAccepted) =>
    expect(v.safeParse(verification, { phone: '+491511234567', code: '123456', ...more }).success).toBe(isAccepted),
  )
})
