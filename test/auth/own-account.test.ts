/**
 * What decides on the routes of a person's own account (contract 9, "Accounts"): its address, identities, consents, sign-up and end.
 * Classes of the auth module run in Node against a real Postgres.
 */
import { createHash } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'

vi.mock('@stack/backend', async (original) => (await import('../support/auth-module.ts')).withoutDecorators(original))
// WebAssembly is compiled by the worker's bundler. The stand-in has the same inputs.
vi.mock('../../src/auth/passwords/argon2.ts', () => ({
  argon2id: async (password: Uint8Array, salt: Uint8Array) =>
    new Uint8Array(createHash('sha256').update(password).update(salt).digest()),
}))

import { ConsentsController } from '../../src/auth/consents/routes.ts'
import { Consents } from '../../src/auth/consents/rows.ts'
import { Addresses } from '../../src/auth/emails/addresses.ts'
import { EmailsController } from '../../src/auth/emails/routes.ts'
import { IdentitiesController } from '../../src/auth/identities/routes.ts'
import type { Person } from '../../src/auth/identities/rows.ts'
import { SignUps } from '../../src/auth/limits/sign-ups.ts'
import type { Purpose } from '../../src/auth/mail/tokens.ts'
import { PasswordChecks } from '../../src/auth/passwords/checks.ts'
import { hashPassword } from '../../src/auth/passwords/hash.ts'
import { inRequest } from '../../src/auth/shared/sql.ts'
import { UsersController } from '../../src/auth/users/routes.ts'
import type { UserT } from '../../src/sdk/user.ts'
import { accountParts, addAccount, browser } from '../support/account-parts.ts'
import { useAuthModule } from '../support/auth-module.ts'

const auth = useAuthModule()
const { request, codeOf, atOnce, sql } = auth

const parts = accountParts()
const { admission, audit, challenges, delivery, factors, identities, limits } = parts
const { notices, outbox, passwords, pending, reclaim, sessions, settings, told, tokens, users } = parts
const addresses = new Addresses(
  admission,
  audit,
  challenges,
  delivery,
  notices,
  passwords,
  pending,
  reclaim,
  sessions,
  tokens,
  users,
)
const checks = new PasswordChecks(audit, limits, users)
const emails = new EmailsController(addresses, admission, audit, checks, delivery, notices, sessions, tokens, users)
const ofIdentities = new IdentitiesController(audit, identities, notices, settings, users)
const consents = new Consents()
const ofConsents = new ConsentsController(audit, consents)
const account = new UsersController(audit, users)

const http = new Request('https://stack.example/auth')
const password = 'correct horse'
/** A user of no test. */
const stranger = 'usr_stranger'
let id: string
let email: string

beforeAll(() => sql('insert into auth.users (id) values ($1)', [stranger]))
beforeEach(async () => {
  told.length = 0
  ;({ id, email } = await addAccount(auth))
})

const user = () => ({ id }) as UserT
/** The claims of a sign-in. */
const signedIn = (secondsAgo = 0) => ({ sub: id, auth_time: Math.floor(Date.now() / 1000) - secondsAgo })
const eventsOf = async (target = id) =>
  (
    await sql<{ event_type: string }>('select event_type from stack.audit where target_id = $1 order by event_type', [
      target,
    ])
  ).map(({ event_type }) => event_type)
const messages = () => sql('select template, recipient, status from auth.outbox order by id')
const issue = async (purpose: Purpose, target: string, userId: string | null = id) =>
  (await request(() => tokens.issue({ purpose, userId, target }, 3_600, { seconds: 600, digits: 6 }))).token
const stored = async (userId = id) =>
  (
    await sql<{ email: string | null; is_confirmed: boolean }>(
      'select email, email_confirmed_at is not null as is_confirmed from auth.users where id = $1',
      [userId],
    )
  )[0]

describe('the confirmation of an address', () => {
  const confirm = (token: string) => () => emails.confirm({ token }, http, 'req_1')

  it('works once, for the address that the account has today', async () => {
    await sql('update auth.users set email_confirmed_at = null where id = $1', [id])
    const [token, former] = [await issue('confirm_email', email), await issue('confirm_email', 'former@example.com')]
    const found = await request(() => tokens.find('confirm_email', { token }))
    expect(await codeOf(confirm(former))).toBe('invalid_token')
    expect(await request(() => addresses.confirmedBy(token, inRequest))).toBe(undefined)
    expect(await request(confirm(token))).toEqual({ status: 'confirmed', email })
    expect(await codeOf(() => addresses.confirm(found, browser))).toBe('invalid_token')
    expect(await stored()).toEqual({ email, is_confirmed: true })
    expect(await eventsOf()).toEqual(['user.email_confirmed'])
    expect(await request(() => addresses.confirmedBy(token, inRequest))).toBe(email)
    expect(await request(() => addresses.confirmedBy(former, inRequest))).toBe(undefined)
  })

  it('is sent again three times a minute, whether there is an account or not', async () => {
    const codes: string[] = []
    for (let time = 0; time < 4; time++)
      codes.push(await codeOf(() => emails.resend({ email: 'nobody@example.com' }, http, 'req_1')))
    expect(codes).toEqual(['done', 'done', 'done', 'rate_limited'])
  })
})

describe('another address', () => {
  const ask = (to: string, current_password?: string, claims: object = signedIn()) =>
    codeOf(() => emails.change({ email: to, ...(current_password ? { current_password } : {}) }, http, 'req_1'), claims)

  it('is asked for with the password, or else soon after a sign-in', async () => {
    expect([await ask('a@new.example'), await ask('a@new.example', undefined, signedIn(700))]).toEqual([
      'done',
      'recent_sign_in_required',
    ])
    await request(async () => passwords.set(id, await hashPassword(password)))
    expect([await ask('b@new.example'), await ask('b@new.example', 'wrong')]).toEqual([
      'invalid_credentials',
      'invalid_credentials',
    ])
    expect((await eventsOf()).filter((event) => event === 'user.sign_in_failed')).toHaveLength(1)
    expect(await ask('b@new.example', password, signedIn(700))).toBe('done')
    expect([await ask(email, password), await ask('c@new.example', password, {})]).toEqual([
      'same_email',
      'unauthorized',
    ])
    expect(await eventsOf()).toContain('user.email_change_requested')
  })

  it('gets its mail three times a minute, and the present one hears of it where it is confirmed', async () => {
    const codes = [await ask('d@new.example'), await ask('d@new.example'), await ask('d@new.example')]
    expect([...codes, await ask('d@new.example')]).toEqual(['done', 'done', 'done', 'rate_limited'])
    expect(told).toEqual(Array(3).fill(`email_change_notice ${email}`))
    await sql('update auth.users set email_confirmed_at = null where id = $1', [id])
    expect(await ask('e@new.example')).toBe('done')
    expect(told).toHaveLength(3)
  })

  it('that belongs to an account tells its owner, and the answer does not', async () => {
    await sql(`delete from auth.outbox; insert into auth.users (id, email) values ('usr_taken', 'taken@new.example')`)
    expect(await ask('taken@new.example')).toBe('done')
    expect(await messages()).toMatchObject([{ template: 'existing_account', recipient: 'taken@new.example' }])
  })

  const confirm = (token: string) => emails.confirmChange({ token }, http, 'req_1')

  it('counts once its mail has come back, voids what was sent before, and is told to the former one', async () => {
    const [token, reset] = [await issue('email_change', 'moved@new.example'), await issue('reset_password', email)]
    const found = await request(() => tokens.find('email_change', { token }))
    expect(await request(() => confirm(token))).toEqual({ status: 'changed', email: 'moved@new.example' })
    expect([await stored(), told]).toEqual([
      { email: 'moved@new.example', is_confirmed: true },
      [`email_changed ${email}`],
    ])
    expect(await request(() => tokens.find('reset_password', { token: reset }))).toBe(undefined)
    expect(await codeOf(() => addresses.change(found, browser))).toBe('invalid_token')
    expect(await eventsOf()).toEqual(['user.email_changed'])
  })

  it('is not given to a disabled account, nor one that is taken meanwhile', async () => {
    await sql(`insert into auth.users (id, email) values ('usr_meanwhile', 'meanwhile@new.example')`)
    const [token, taken] = [
      await issue('email_change', 'free@new.example'),
      await issue('email_change', 'meanwhile@new.example'),
    ]
    expect(await codeOf(() => confirm(taken))).toBe('email_taken')
    await sql('update auth.users set disabled_at = now() where id = $1', [id])
    expect(await codeOf(() => confirm(token))).toBe('invalid_token')
    expect(await stored()).toEqual({ email, is_confirmed: true })
  })

  it('that an intruder has set is taken back with everything that the intruder may hold', async () => {
    const former = 'former-owner@example.com'
    const undo = await issue('email_change_undo', former)
    const session = await request(() => sessions.begin(id, ['pwd'], browser))
    const challenge = await request(() => challenges.begin(id, ['pwd']))
    await request(() => passwords.set(id, '$argon2id$1'))
    await request(() => factors.enrol(id, '', 'secret'))
    await sql(`insert into auth.identities (provider, subject, user_id) values ('google', $1, $1)`, [id])
    await sql(`insert into auth.users (id, email) values ('usr_squatter', $1)`, [former])
    const later = await issue('email_change_undo', email)
    await request(() => outbox.queue({ template: 'email_change_notice', recipient: email, userId: id }))
    expect(await request(() => emails.undo({ token: undo }, http, 'req_1'))).toEqual({ status: 'kept', email: former })
    expect([await stored(), await stored('usr_squatter')]).toEqual([
      { email: former, is_confirmed: true },
      { email: null, is_confirmed: false },
    ])
    for (const table of ['password_credentials', 'mfa_factors', 'identities'])
      expect([table, await sql(`select from auth.${table} where user_id = $1`, [id])]).toEqual([table, []])
    expect(await request(() => challenges.read(challenge))).toBe(undefined)
    expect(await sql('select end_reason from auth.sessions where id = $1', [session.id])).toEqual([
      { end_reason: 'revoked' },
    ])
    expect(await codeOf(() => emails.undo({ token: later }, http, 'req_1'))).toBe('invalid_token')
    expect(await codeOf(() => emails.undo({ token: undo }, http, 'req_1'))).toBe('invalid_token')
    expect(
      await sql('select template, recipient, status from auth.outbox where user_id = $1 order by id', [id]),
    ).toEqual([
      { template: 'email_change_notice', recipient: email, status: 'dropped' },
      { template: 'reset_password', recipient: former, status: 'queued' },
    ])
    expect(await eventsOf()).toEqual(['user.email_change_undone'])
  })
})

describe('identities', () => {
  const person = (subject: string, profile = {}): Person => ({
    provider: 'google',
    subject,
    email: null,
    email_verified: false,
    profile,
  })
  const remove = (subject: string, claims: object = signedIn()) =>
    codeOf(() => ofIdentities.remove('google', subject, user(), http, 'req_1'), claims)

  it('are those of the caller, who removes them soon after a sign-in, but for the last way in', async () => {
    await sql(`update auth.providers set enabled = true where name = 'google'`)
    await request(() => identities.add(id, person('mine'), 'web'))
    await request(() => identities.add(stranger, person('another'), 'web'))
    expect((await request(() => ofIdentities.list(user()))).data.map((one) => one.id)).toEqual(['mine'])
    expect(await remove('mine', signedIn(700))).toBe('recent_sign_in_required')
    expect(await remove('another')).toBe('identity_not_found')
    await sql('update auth.users set email_confirmed_at = null where id = $1', [id])
    expect(await remove('mine')).toBe('last_way_in')
    expect([told, await eventsOf()]).toEqual([[], []])
    await request(() => passwords.set(id, '$argon2id$1'))
    expect(await remove('mine')).toBe('done')
    expect([told, await eventsOf()]).toEqual([[`identity_unlinked ${email}`], ['identity.unlinked']])
  })

  it('keep the name that a provider tells once, and go alone with their user', async () => {
    await request(() => identities.add(id, person('apple', { name: 'Ada' }), 'web'))
    await request(() => identities.signedIn(person('apple', { login: 'ada' }), 'ios'))
    expect(await request(() => identities.ofUser(id))).toMatchObject([{ profile: { name: 'Ada', login: 'ada' } }])
    expect(await request(() => identities.ownerOf(person('apple')))).toBe(id)
    await request(() => identities.removeAll('usr_unknown'))
    expect(await request(() => identities.ownerOf(person('apple')))).toBe(id)
  })

  it('are linked by an address unless the provider’s configuration says never', async () => {
    const mayLink = () => request(() => identities.mayLinkByAddress('google'))
    expect(await mayLink()).toBe(true)
    await sql(`update auth.providers set config = '{"link_policy":"never"}' where name = 'google'`)
    expect(await mayLink()).toBe(false)
  })

  it('of one person are decided one after the other', async () => {
    const codes = await atOnce('auth.identities', async () => {
      await identities.lock(person('racer'))
      if ((await identities.ownerOf(person('racer'))) === undefined) await identities.add(id, person('racer'), 'web')
    })
    expect(new Set(codes)).toEqual(new Set(['done']))
    expect(await request(() => identities.ownerOf(person('racer')))).toBe(id)
  })
})

describe('consents', () => {
  const grant = (document: string, version: string) => () =>
    ofConsents.grant({ document, version }, user(), http, 'req_1')
  const withdraw = (document: string) => request(() => ofConsents.withdraw(document, user(), http, 'req_1'))
  const kept = () =>
    sql<{ at: string }>(
      `select document || ' ' || version as consent, withdrawn_at is not null as is_withdrawn,
        extract(epoch from granted_at)::text || ' ' || coalesce(extract(epoch from withdrawn_at)::text, '') as at
        from auth.consents where user_id = $1 order by 1`,
      [id],
    )

  it('are given once and withdrawn once, document by document, and each change has an entry', async () => {
    await request(() => consents.grant(stranger, 'terms', '1', browser))
    await request(grant('terms', '1'))
    await request(grant('privacy', '1'))
    const given = await kept()
    await request(grant('terms', '1'))
    expect(await kept()).toEqual(given)
    await withdraw('terms')
    const withdrawn = await kept()
    expect(withdrawn.map(({ at: _, ...one }) => one)).toEqual([
      { consent: 'privacy 1', is_withdrawn: false },
      { consent: 'terms 1', is_withdrawn: true },
    ])
    await withdraw('terms')
    expect(await kept()).toEqual(withdrawn)
    expect(await eventsOf()).toEqual(['consent.granted', 'consent.granted', 'consent.withdrawn'])
    expect(await request(() => consents.recordedOf(stranger))).toMatchObject([{ withdrawn_at: null }])
    expect((await request(() => ofConsents.list(user()))).data).toHaveLength(2)
  })

  it('of one user are 200 at most, also where thirty are given at once', async () => {
    await sql(
      `insert into auth.consents (user_id, document, version) select $1, 'terms', n::text from generate_series(1, 199) n`,
      [id],
    )
    const codes = await atOnce('auth.consents', (n) => grant('privacy', String(n))())
    expect([codes.filter((code) => code === 'done').length, new Set(codes)]).toEqual([
      1,
      new Set(['done', 'too_many_consents']),
    ])
    expect(await codeOf(grant('terms', '1'))).toBe('done')
  })
})

describe('a sign-up', () => {
  const signUps = new SignUps(limits, settings)
  const admit = (ip: string, check?: () => void) => codeOf(() => signUps.admit({ ...browser, ip }, check))

  it('is counted by network, ten an hour, and not at all where it is not allowed', async () => {
    const refuse = () => {
      throw new Error('not allowed')
    }
    for (let time = 0; time < 10; time++) await expect(admit('192.0.2.20', refuse)).rejects.toThrow('not allowed')
    for (let time = 0; time < 10; time++) expect(await admit('192.0.2.20')).toBe('done')
    expect([await admit('192.0.2.20'), await admit('192.0.2.21')]).toEqual(['rate_limited', 'done'])
    await sql(`update auth.settings set document = '{"sign_up_enabled":false}'`)
    expect(await admit('192.0.2.22')).toBe('sign_up_disabled')
    await sql(`update auth.settings set document = '{}'`)
  })
})

describe('the account', () => {
  it('is read with its session, and deleted with an entry soon after a sign-in', async () => {
    expect(await request(() => account.read(user()))).toMatchObject({ id, email, email_verified: true })
    expect(await codeOf(() => account.read(null))).toBe('unauthorized')
    const remove = (claims: object) => codeOf(() => account.remove(user(), http, 'req_1'), claims)
    expect(await remove(signedIn(700))).toBe('recent_sign_in_required')
    expect(await remove(signedIn())).toBe('done')
    expect([await stored(), await eventsOf()]).toEqual([undefined, ['user.deleted']])
    expect(await stored(stranger)).toBeDefined()
    expect(await codeOf(() => account.read(user()))).toBe('user_not_found')
  })
})
