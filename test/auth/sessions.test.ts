/**
 * What decides in sessions, passwords, second factors and one-time tokens (contract 3.4, 9, "Token refresh"): classes of the auth module
 * in Node against a real Postgres.
 */
import { createHash } from 'node:crypto'
import { decodeJwt } from 'jose'
import { beforeEach, describe, expect, it, vi } from 'vitest'

vi.mock('@stack/backend', async (original) => (await import('../support/auth-module.ts')).withoutDecorators(original))
// WebAssembly is compiled by the worker's bundler. The stand-in has the same inputs.
vi.mock('../../src/auth/passwords/argon2.ts', () => ({
  argon2id: async (password: Uint8Array, salt: Uint8Array, cost: object, length: number) => {
    slow.count++
    const digest = createHash('sha512').update(password).update(salt).update(JSON.stringify(cost)).digest()
    return new Uint8Array(digest.subarray(0, length))
  },
}))
const slow = vi.hoisted(() => ({ count: 0 }))

import { Audit } from '../../src/auth/audit/rows.ts'
import { SigningKeys } from '../../src/auth/keys/rows.ts'
import { Limits } from '../../src/auth/limits/rows.ts'
import { OneTimeTokens } from '../../src/auth/mail/tokens.ts'
import { AdministeredMfaController } from '../../src/auth/mfa/administration.ts'
import { FactorChanges } from '../../src/auth/mfa/changes.ts'
import { digestOf, newRecoveryCodes } from '../../src/auth/mfa/recovery.ts'
import { MfaController } from '../../src/auth/mfa/routes.ts'
import { Challenges, Factors, Recovery } from '../../src/auth/mfa/rows.ts'
import { SecondStep } from '../../src/auth/mfa/second-step.ts'
import { newEnrolment, stepOf } from '../../src/auth/mfa/totp.ts'
import { PasswordChecks } from '../../src/auth/passwords/checks.ts'
import { hashPassword, isCurrent, isPassword, requirePasswordFits } from '../../src/auth/passwords/hash.ts'
import { isSame } from '../../src/auth/passwords/phc.ts'
import { Passwords } from '../../src/auth/passwords/rows.ts'
import { ProviderStates } from '../../src/auth/providers/rows.ts'
import { RefreshController, SessionsController } from '../../src/auth/sessions/routes.ts'
import { Sessions } from '../../src/auth/sessions/rows.ts'
import { SignIn } from '../../src/auth/sessions/sign-in.ts'
import { openRefreshToken, Tokens } from '../../src/auth/sessions/tokens.ts'
import { SettingsRows } from '../../src/auth/settings/rows.ts'
import { changesBetween } from '../../src/auth/shared/changes.ts'
import { clientOf } from '../../src/auth/shared/client.ts'
import { openCursor, sealCursor } from '../../src/auth/shared/cursor.ts'
import { authError } from '../../src/auth/shared/errors.ts'
import { requireMatch } from '../../src/auth/shared/precondition.ts'
import { requireRecent } from '../../src/auth/shared/recent.ts'
import { open, seal } from '../../src/auth/shared/seal.ts'
import { inRequest } from '../../src/auth/shared/sql.ts'
import { type User, Users } from '../../src/auth/users/rows.ts'
import type { UserT } from '../../src/sdk/user.ts'
import { useAuthModule } from '../support/auth-module.ts'
import { codeOf as totpOf } from '../support/totp.ts'

const auth = useAuthModule()
const { request, codeOf, sql } = auth

const told: string[] = []
const notices = { toUser: async (_user: unknown, template: string) => void told.push(template) } as never
const audit = new Audit()
const sessions = new Sessions()
const users = new Users(...([] as unknown as ConstructorParameters<typeof Users>))
const settings = new SettingsRows()
const limits = new Limits()
const tokens = new Tokens(new SigningKeys())
const oneTime = new OneTimeTokens(limits, settings)
const refreshing = new RefreshController(audit, limits, notices, sessions, tokens)
const own = new SessionsController(audit, sessions)
const signIns = new SignIn(audit, notices, sessions, tokens, users)
const factors = new Factors()
const recovery = new Recovery()
const challenges = new Challenges()
const passwords = new Passwords()

const browser = { ip: '192.0.2.7', country: null, user_agent: 'Browser/1', request_id: 'req_1' }
const http = new Request('https://stack.example/auth', { headers: { 'cf-connecting-ip': '192.0.2.7' } })
let count = 0
let id: string

beforeEach(async () => {
  told.length = 0
  id = `usr_${count++}`
  await sql('insert into auth.users (id, email) values ($1, $2)', [id, `${id}@example.com`])
})

const userOf = async (userId = id) => (await request(() => users.byId(userId))) as User
const signIn = async (amr = ['pwd']) => {
  const user = await userOf()
  return request(() => signIns.begin(user, amr, browser))
}
const sessionOf = (token: string) => decodeJwt(token)['session_id'] as string
const refresh = (refresh_token: string) => () => refreshing.refresh({ refresh_token }, http, 'req_1')
const refreshed = async (token: string) => (await request(refresh(token))) as Awaited<ReturnType<typeof signIn>>
const isEnded = async (session: string) => {
  const [row] = await sql<{ end_reason: string | null }>('select end_reason from auth.sessions where id = $1', [
    session,
  ])
  return row!.end_reason
}
const rotatedAgo = (session: string, seconds: number) =>
  sql(`update auth.sessions set refresh_rotated_at = clock_timestamp() - make_interval(secs => $2) where id = $1`, [
    session,
    seconds,
  ])

describe('an access token', () => {
  it('tells the user, the session and what was proved, for fifteen minutes', async () => {
    const { access_token } = await signIn()
    const claims = decodeJwt(access_token)
    expect(claims).toMatchObject({
      sub: id,
      aud: 'stack',
      iss: 'https://stack.example/auth',
      role: 'authenticated',
      email_verified: false,
      aal: 'aal1',
      session_id: expect.stringMatching(/^ses_/),
    })
    expect([claims.exp! - claims.iat!, claims['management']]).toEqual([900, undefined])
  })

  it('tells a confirmed address, an operator, a guest and two factors as such', async () => {
    await sql('update auth.users set email_confirmed_at = now() where id = $1', [id])
    await sql('insert into auth.operators (user_id) values ($1)', [id])
    expect(decodeJwt((await signIn(['pwd', 'otp', 'mfa'])).access_token)).toMatchObject({
      email_verified: true,
      management: true,
      aal: 'aal2',
    })
    await sql('update auth.users set is_anonymous = true where id = $1', [id])
    expect(decodeJwt((await signIn()).access_token)['role']).toBe('anon')
  })

  it('is for the audience of this stack', async () => {
    const { AUTH_AUDIENCE } = auth.env
    auth.env['AUTH_AUDIENCE'] = 'another stack'
    const { access_token } = await signIn()
    auth.env['AUTH_AUDIENCE'] = AUTH_AUDIENCE
    expect(decodeJwt(access_token).aud).toBe('another stack')
  })

  it('keeps the moment of the sign-in when it is refreshed', async () => {
    const first = await signIn()
    await sql(`update auth.sessions set auth_time = now() - interval '1 hour' where id = $1`, [
      sessionOf(first.access_token),
    ])
    const next = decodeJwt((await refreshed(first.refresh_token)).access_token)
    expect((next['auth_time'] as number) < Date.now() / 1000 - 3_500).toBe(true)
  })
})

describe('a refresh token', () => {
  it('gives one successor, and the former one gives the same for a moment', async () => {
    const first = await signIn()
    const second = await refreshed(first.refresh_token)
    expect(second.refresh_token).not.toBe(first.refresh_token)
    expect((await refreshed(first.refresh_token)).refresh_token).toBe(second.refresh_token)
  })

  it('of two generations ago ends the session, and its owner is told', async () => {
    const first = await signIn()
    const second = await refreshed(first.refresh_token)
    const third = await refreshed(second.refresh_token)
    expect(await codeOf(refresh(first.refresh_token))).toBe('invalid_refresh_token')
    expect([await isEnded(sessionOf(first.access_token)), told]).toEqual(['reuse_detected', ['session_reuse_detected']])
    expect(await codeOf(refresh(third.refresh_token))).toBe('invalid_refresh_token')
  })

  it('of before comes late three times, and the fourth time ends the session', async () => {
    let before = await signIn()
    const session = sessionOf(before.access_token)
    before = await refreshed(before.refresh_token)
    let current = await refreshed(before.refresh_token)
    for (let time = 0; time < 3; time++) {
      await rotatedAgo(session, 11)
      const recovered = await refreshed(before.refresh_token)
      before = current
      current = recovered
    }
    await rotatedAgo(session, 11)
    expect(await codeOf(refresh(before.refresh_token))).toBe('invalid_refresh_token')
    expect(await isEnded(session)).toBe('reuse_detected')
  })

  it('of before that comes late thirty times at once gives one pair', async () => {
    const before = await refreshed((await signIn()).refresh_token)
    const session = sessionOf(before.access_token)
    await refreshed(before.refresh_token)
    await rotatedAgo(session, 11)
    // the bucket of the limit would hold the others as well: the lock of the session must do so alone
    const withoutLimit = new RefreshController(audit, { takeEach: () => ({}) } as never, notices, sessions, tokens)
    const body = { refresh_token: before.refresh_token }
    await auth.atOnce('stack.audit', () => withoutLimit.refresh(body, http, 'req_1'))
    expect(
      await sql('select refresh_recoveries, refresh_generation::int from auth.sessions where id = $1', [session]),
    ).toEqual([{ refresh_recoveries: 1, refresh_generation: 3 }])
  })

  it.each([
    ['that was ended', `ended_at = now(), end_reason = 'revoked'`],
    ['that has expired', 'expires_at = now()'],
  ])('of a session %s gives nothing, nor does the one before', async (_what, change) => {
    const first = await signIn()
    const second = await refreshed(first.refresh_token)
    await sql(`update auth.sessions set ${change} where id = $1`, [sessionOf(first.access_token)])
    expect(await codeOf(refresh(second.refresh_token))).toBe('invalid_refresh_token')
    expect(await codeOf(refresh(first.refresh_token))).toBe('invalid_refresh_token')
  })

  it('of a disabled account ends the session, also the one before', async () => {
    const [one, other] = [await signIn(), await signIn()]
    const next = await refreshed(other.refresh_token)
    await sql('update auth.users set disabled_at = now() where id = $1', [id])
    expect(await codeOf(refresh(one.refresh_token))).toBe('invalid_refresh_token')
    expect(await codeOf(refresh(other.refresh_token))).toBe('invalid_refresh_token')
    expect([await isEnded(sessionOf(one.access_token)), await isEnded(sessionOf(next.access_token))]).toEqual([
      'user_disabled',
      'user_disabled',
    ])
  })

  it('is made here alone: no changed byte opens', async () => {
    const { refresh_token } = await signIn()
    expect(await request(() => openRefreshToken(refresh_token))).toMatchObject({ generation: 0 })
    const bytes = Buffer.from(refresh_token.slice(3), 'base64url')
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at]! ^= 1
      const token = `rt_${changed.toString('base64url')}`
      expect([at, await request(() => openRefreshToken(token))]).toEqual([at, undefined])
    }
    const long = `rt_${Buffer.concat([bytes, Buffer.alloc(200)]).toString('base64url')}`
    const decode = vi.spyOn(globalThis, 'atob')
    expect(await request(() => openRefreshToken(long))).toBe(undefined)
    expect(decode).not.toHaveBeenCalledWith(expect.stringMatching(/^.{201,}$/))
    decode.mockRestore()
  })

  it('is tried sixty times a minute', async () => {
    await sql(
      `update auth.settings set document = '{"rate_limits":{"refresh_per_session":{"attempts":1,"seconds":3600}}}'`,
    )
    const { refresh_token } = await signIn()
    const codes = [await codeOf(refresh(refresh_token)), await codeOf(refresh(refresh_token))]
    await sql(`update auth.settings set document = '{}'`)
    expect(codes).toEqual(['done', 'rate_limited'])
    const [bucket] = await sql<{ bucket: string }>(
      `select bucket from auth.rate_limits where bucket like 'refresh_per_session %' limit 1`,
    )
    expect(bucket!.bucket).not.toContain('ses_')
  })
})

describe('sessions', () => {
  const asUser = (userId: string, session: string) => ({ sub: userId, session_id: session })
  const user = () => ({ id }) as UserT

  it('are those of the caller alone, and end for the caller alone', async () => {
    const mine = sessionOf((await signIn()).access_token)
    const other = sessionOf((await signIn()).access_token)
    const former = id
    id = 'usr_stranger'
    await sql('insert into auth.users (id) values ($1) on conflict do nothing', [id])
    const strange = sessionOf((await signIn()).access_token)
    expect((await request(() => own.list(user()), asUser(id, strange))).data.map((one) => one.id)).toEqual([strange])
    expect(await codeOf(() => own.end(mine, user(), http, 'req_1'), asUser(id, strange))).toBe('session_not_found')
    expect(await isEnded(mine)).toBe(null)
    id = former
    await request(() => own.signOut({ scope: 'others' }, user(), http, 'req_1'), asUser(id, mine))
    expect([await isEnded(mine), await isEnded(other), await isEnded(strange)]).toEqual([null, 'signed_out', null])
    await request(() => own.signOut({ scope: 'all' }, user(), http, 'req_1'), asUser(id, mine))
    expect([await isEnded(mine), await isEnded(strange)]).toEqual(['signed_out', null])
  })

  it('last thirty days, and the end of one is not changed', async () => {
    const session = sessionOf((await signIn()).access_token)
    const [row] = await sql<{ days: number }>(
      `select round(extract(epoch from expires_at - now()) / 86400)::int as days from auth.sessions where id = $1`,
      [session],
    )
    expect(row).toEqual({ days: 30 })
    expect(await request(() => sessions.end(session, 'revoked'))).toBe(true)
    expect(await request(() => sessions.end(session, 'signed_out'))).toBe(false)
    expect(await isEnded(session)).toBe('revoked')
  })

  it('that proved a second factor are told from others, and end with its reset', async () => {
    const [plain, raised] = [await signIn(), await signIn(['pwd', 'mfa'])].map((one) => sessionOf(one.access_token))
    expect(await request(() => sessions.isRaised(plain!))).toBe(false)
    expect(await request(() => sessions.isRaised(raised!))).toBe(true)
    expect(await request(() => sessions.endRaised(id, 'mfa_reset'))).toBe(1)
    expect([await isEnded(plain!), await isEnded(raised!)]).toEqual([null, 'mfa_reset'])
  })

  it('that ended are kept for a month', async () => {
    const [old, fresh] = [await signIn(), await signIn()].map((one) => sessionOf(one.access_token))
    await sql(`update auth.sessions set ended_at = now() - interval '31 days', end_reason = 'revoked' where id = $1`, [
      old,
    ])
    await sql(`update auth.sessions set ended_at = now() - interval '29 days', end_reason = 'revoked' where id = $1`, [
      fresh,
    ])
    await request(() => sessions.forgetEnded())
    expect(await sql('select id from auth.sessions where id = any ($1)', [[old, fresh]])).toEqual([{ id: fresh }])
  })

  it('begin for no account that was disabled meanwhile', async () => {
    const before = await userOf()
    await sql('update auth.users set disabled_at = now() where id = $1', [id])
    expect(await codeOf(() => signIns.begin(before, ['pwd'], browser))).toBe('invalid_credentials')
  })

  it('a request without a token has no caller', async () => {
    expect(await codeOf(() => sessions.caller(inRequest))).toBe('unauthorized')
  })
})

describe('a recent sign-in', () => {
  const ago = (seconds: number) => ({ sub: id, auth_time: Math.floor(Date.now() / 1000) - seconds })

  it('is at most ten minutes old, and one without its time is none', async () => {
    expect(await codeOf(() => requireRecent(), ago(500))).toBe('done')
    expect(await codeOf(() => requireRecent(), ago(700))).toBe('recent_sign_in_required')
    expect(await codeOf(() => requireRecent(), { sub: id })).toBe('recent_sign_in_required')
  })
})

describe('a password', () => {
  it('is hashed under a salt of its own, the pepper and the cost of this version', async () => {
    const [one, other] = await request(async () => [await hashPassword('secret'), await hashPassword('secret')])
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect(one).not.toBe(other)
    expect(await request(() => isPassword('secret', one))).toBe(true)
    expect(await request(() => isPassword('secrets', one))).toBe(false)
    const { PASSWORD_PEPPER } = auth.env
    auth.env['PASSWORD_PEPPER'] = Buffer.alloc(32, 'x').toString('base64url')
    expect(await request(() => isPassword('secret', one))).toBe(false)
    auth.env['PASSWORD_PEPPER'] = 'abc'
    await expect(request(() => hashPassword('secret'))).rejects.toThrow('must be 32 bytes')
    auth.env['PASSWORD_PEPPER'] = PASSWORD_PEPPER
  })

  it('of no account is as much work, and never right', async () => {
    slow.count = 0
    expect(await request(() => isPassword('secret', undefined))).toBe(false)
    expect(slow.count).toBe(1)
  })

  it('under former parameters is hashed anew', () => {
    expect(isCurrent('$argon2id$v=19$m=19456,t=2,p=1$a$b')).toBe(true)
    expect(isCurrent('$argon2id$v=19$m=9216,t=4,p=1$a$b')).toBe(false)
  })

  it.each([
    [7, false],
    [8, true],
    [64, true],
    [65, false],
  ])('of %i characters is accepted: %j', (length, isAccepted) => {
    const check = () => requirePasswordFits('🔑'.repeat(length), {})
    if (isAccepted) expect(check).not.toThrow()
    else expect(check).toThrow('8 to 64')
  })

  it('replaces the one that was checked, and no other', async () => {
    await request(() => passwords.set(id, '$argon2id$1'))
    expect(await request(() => passwords.replace(id, '$argon2id$2', '$argon2id$3'))).toBe(false)
    expect(await request(() => passwords.replace(id, '$argon2id$1', '$argon2id$3'))).toBe(true)
  })

  it('is set in place of another, and removed with no other', async () => {
    await sql(`insert into auth.users (id) values ('usr_other') on conflict do nothing`)
    for (const phc of ['$argon2id$1', '$argon2id$2']) await request(() => passwords.set(id, phc))
    await request(() => passwords.set('usr_other', '$argon2id$1'))
    await request(() => passwords.remove('usr_other'))
    const kept = await sql(`select phc from auth.password_credentials where user_id = any ($1)`, [[id, 'usr_other']])
    expect(kept).toEqual([{ phc: '$argon2id$2' }])
  })

  it('whose hash has another length is another one, and no fault', () => {
    const bytes = new Uint8Array([1, 2])
    expect([isSame(bytes, bytes.slice()), isSame(bytes, bytes.slice(0, 1))]).toEqual([true, false])
  })
})

describe('an authenticator app', () => {
  const enrolled = async () => {
    const { secret } = newEnrolment('stack.example', 'a')
    const factor = await request(() => factors.enrol(id, '', secret))
    return { secret, factor }
  }

  it('counts from its first code on, and a code works once', async () => {
    const { secret, factor } = await enrolled()
    expect([
      await sql('select from auth.mfa_factors where id = $1 and sealed_secret like $2', [factor, `%${secret}%`]),
    ]).toEqual([[]])
    expect(await request(() => factors.check(id, totpOf(secret)))).toBe(false)
    expect(await request(() => factors.verify(id, factor, totpOf(secret)))).toBe(true)
    expect(await request(() => factors.check(id, totpOf(secret)))).toBe(false)
    expect(await request(() => factors.check(id, totpOf(secret, 1)))).toBe(true)
    expect(await request(() => factors.check(id, totpOf(secret, 1)))).toBe(false)
  })

  it('that was begun again takes the place of the one that waits', async () => {
    await enrolled()
    await enrolled()
    expect(await request(() => factors.ofUser(id))).toHaveLength(1)
  })

  it('is removed by its owner alone', async () => {
    const { factor } = await enrolled()
    expect(await request(() => factors.remove('usr_0', factor))).toBe(undefined)
    expect(await request(() => factors.remove(id, factor))).toBe('totp')
  })

  it('has a secret of 160 bits, whose codes count one step ahead and one behind', () => {
    const { secret } = newEnrolment('stack.example', 'a')
    expect(secret).toHaveLength(32)
    const accepted = [-2, -1, 0, 1, 2].filter((steps) => stepOf(secret, totpOf(secret, steps)) !== undefined)
    expect(accepted).toEqual([-1, 0, 1])
  })
})

describe('recovery codes', () => {
  it('are ten, each works once, and new ones void the old', async () => {
    const codes = await request(() => recovery.renew(id))
    expect([codes.length, codes[0]]).toEqual([10, expect.stringMatching(/^(?:[0-9a-z]{4}-){3}[0-9a-z]{4}$/)])
    expect(await request(() => recovery.use(id, codes[0]!.toUpperCase()))).toBe(true)
    expect(await request(() => recovery.use(id, codes[0]!))).toBe(false)
    expect(await request(() => recovery.use('usr_0', codes[1]!))).toBe(false)
    await request(() => recovery.renew(id))
    expect(await request(() => recovery.use(id, codes[1]!))).toBe(false)
  })

  it('are digests under the pepper and the user', async () => {
    const [code] = newRecoveryCodes() as [string]
    const digests = await request(async () => [await digestOf(id, code), await digestOf('usr_0', code)])
    expect(digests[0]).not.toBe(digests[1])
    expect(Buffer.from(digests[0]!, 'base64').toString()).not.toContain(code.replaceAll('-', ''))
    expect(digests[0]).toHaveLength(44)
  })
})

describe('a sign-in that waits for its second factor', () => {
  const attempt = (challenge: string) => request(() => challenges.attempt(challenge, inRequest))

  it('has five attempts, is done once, and is over after its time', async () => {
    const challenge = await request(() => challenges.begin(id, ['pwd']))
    for (let time = 0; time < 5; time++) expect(await attempt(challenge)).toMatchObject({ user_id: id })
    expect(await attempt(challenge)).toBe(undefined)
    const [done, over] = await request(async () => [
      await challenges.begin(id, ['pwd']),
      await challenges.begin(id, ['pwd']),
    ])
    expect(await request(() => challenges.consume(done!))).toBe(true)
    expect(await request(() => challenges.consume(done!))).toBe(false)
    expect(await attempt(done!)).toBe(undefined)
    await sql('update auth.mfa_challenges set expires_at = now() where id = $1', [over])
    expect(await attempt(over!)).toBe(undefined)
  })

  it('is over where the account is disabled meanwhile', async () => {
    const none = undefined as never
    const changes = new FactorChanges(audit, notices, users)
    const secondStep = new SecondStep(challenges, factors, sessions, signIns)
    const providers = new ProviderStates()
    const mfa = new MfaController(
      none,
      audit,
      challenges,
      changes,
      factors,
      limits,
      notices,
      providers,
      recovery,
      secondStep,
      sessions,
      settings,
      signIns,
      users,
    )
    const [one, other] = await request(() => recovery.renew(id))
    const answer = async (recovery_code: string) => {
      const challenge_id = await request(() => challenges.begin(id, ['pwd']))
      return codeOf(() => mfa.challenge({ challenge_id, recovery_code }, http, 'req_1'))
    }
    expect(await answer(one!)).toBe('done')
    await sql('update auth.users set disabled_at = now() where id = $1', [id])
    expect(await answer(other!)).toBe('invalid_challenge')
  })

  it('ends with the password that began it', async () => {
    const challenge = await request(() => challenges.begin(id, ['pwd']))
    await request(() => challenges.forget(id))
    expect(await attempt(challenge)).toBe(undefined)
  })
})

describe('a one-time token', () => {
  const target = () => `${id}@example.com`
  const issue = (purpose: 'confirm_email' | 'reset_password' | 'email_change_undo' = 'reset_password') =>
    request(() => oneTime.issue({ purpose, userId: id, target: target() }, 3_600, { seconds: 600, digits: 6 }))
  const byToken = (token: string, purpose: 'confirm_email' | 'reset_password' = 'reset_password') =>
    request(() => oneTime.find(purpose, { token }))
  const byCode = (code: string) => request(() => oneTime.find('reset_password', { target: target(), code }))
  const wrong = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0')

  it('is found by its link and its code, for its purpose and its time', async () => {
    const { token, code } = await issue()
    expect(await byToken(token)).toMatchObject({ user_id: id })
    expect(await byToken(token, 'confirm_email')).toBe(undefined)
    expect(await byCode(code)).toMatchObject({ user_id: id })
    expect(await byCode(wrong(code))).toBe(undefined)
    await sql('update auth.one_time_tokens set code_expires_at = now() where user_id = $1', [id])
    expect(await byCode(code)).toBe(undefined)
    await sql('update auth.one_time_tokens set expires_at = now() where user_id = $1', [id])
    expect(await byToken(token)).toBe(undefined)
  })

  it('is used once, with every other one of its purpose and address', async () => {
    const [older, newer] = [await issue(), await issue()]
    const found = await byToken(newer.token)
    expect(await request(() => oneTime.use(found!))).toBe(true)
    expect(await request(() => oneTime.use(found!))).toBe(false)
    expect([await byToken(newer.token), await byToken(older.token)]).toEqual([undefined, undefined])
  })

  it('has a code that takes five guesses, and the address has ten', async () => {
    const { code } = await issue()
    for (let time = 0; time < 5; time++) expect(await byCode(wrong(code))).toBe(undefined)
    expect(await byCode(code)).toBe(undefined)
    for (let time = 0; time < 4; time++) await byCode(code)
    expect(await codeOf(() => oneTime.find('reset_password', { target: target(), code }))).toBe('rate_limited')
  })

  it('is a digest in the database', async () => {
    const { token, code } = await issue()
    const [row] = await sql('select token_digest, code_digest from auth.one_time_tokens where user_id = $1', [id])
    expect(JSON.stringify(row)).not.toContain(token)
    expect(JSON.stringify(row)).not.toMatch(new RegExp(`"${code}"`))
  })

  it('goes with the actions of its user, but for the undo of a former address', async () => {
    const reset = await issue()
    const first = await issue('email_change_undo')
    const later = await issue('email_change_undo')
    const undo = (token: string) => request(() => oneTime.find('email_change_undo', { token }))
    await request(() => oneTime.forgetActions(id))
    expect([await byToken(reset.token), (await undo(first.token)) !== undefined]).toEqual([undefined, true])
    const owners = (await undo(first.token))!
    await request(() => oneTime.forgetLaterUndos(owners))
    expect([(await undo(first.token)) !== undefined, await undo(later.token)]).toEqual([true, undefined])
  })
})

describe('a sealed value', () => {
  it('opens at its own place alone, and no two are alike', async () => {
    const [one, other] = await request(async () => [await seal('secret', 'a'), await seal('secret', 'a')])
    expect(one).not.toBe(other)
    expect(one!.slice(0, 16)).not.toBe(other!.slice(0, 16))
    expect(await request(() => open(one!, 'a'))).toBe('secret')
    await expect(request(() => open(one!, 'b'))).rejects.toThrow()
  })

  it('as a cursor goes on with its own list and filters alone', async () => {
    const cursor = await request(() => sealCursor('users', { email: 'a' }, ['x']))
    expect(await request(() => openCursor(cursor, 'users', { email: 'a' }))).toEqual(['x'])
    expect(await codeOf(() => openCursor(cursor, 'users', { email: 'b' }))).toBe('invalid_cursor')
    expect(await codeOf(() => openCursor(cursor, 'sessions', { email: 'a' }))).toBe('invalid_cursor')
  })
})

describe('what is told of a change and of a client', () => {
  it('holds no secret, by its name or inside an address', () => {
    expect(changesBetween({}, { mail: { password: 'x', url: 'smtp://a:b@mail.example' } })).toEqual([
      { path: 'mail', from: null, to: { password: '***', url: 'smtp://***@mail.example' } },
    ])
  })

  it('is an address that Postgres can hold, and the beginning of a user agent', () => {
    const headers = { 'cf-connecting-ip': 'nowhere', 'user-agent': 'a'.repeat(600) }
    const client = clientOf(new Request('https://stack.example', { headers }), 'req_1')
    expect([client.ip, client.user_agent!.length]).toEqual([null, 512])
  })

  it('9.2 a stale If-Match is refused', () => {
    expect(() => requireMatch('"1"', '"2"', 'it')).toThrow('changed meanwhile')
    expect(() => requireMatch('"1", "2"', '"2"', 'it')).not.toThrow()
    expect(() => requireMatch(undefined, '"2"', 'it')).not.toThrow()
  })
})

describe('9.7 attempts with a password', () => {
  const checks = new PasswordChecks(audit, limits, users)
  const from = (network: number) => ({ ...browser, ip: `203.0.${network}.1` })
  const attempt = (key: string, network: number) =>
    codeOf(() => checks.check('wrong', key, from(network), async () => undefined))
  const small = (limit: string, attempts: number) =>
    sql(`update auth.settings set document = jsonb_build_object('rate_limits', jsonb_build_object('${limit}',
      jsonb_build_object('attempts', ${attempts}, 'seconds', 3600)))`)

  it.each([
    ['one account and network', 'sign_in_per_account', ['a 1', 'a 1', 'a 1', 'a 2', 'b 1']],
    ['one account, from many networks', 'sign_in_per_account_everywhere', ['a 1', 'a 2', 'a 3', 'b 4', 'b 5']],
    ['one network, of many accounts', 'sign_in_per_address', ['a 1', 'b 1', 'c 1', 'd 2', 'a 2']],
  ])('are counted for %s', async (_what, limit, attempts) => {
    await sql('delete from auth.rate_limits')
    await small(limit, 2)
    try {
      const codes: string[] = []
      for (const one of attempts) codes.push(await attempt(one.split(' ')[0]!, Number(one.split(' ')[1])))
      const wrong = 'invalid_credentials'
      expect(codes).toEqual([wrong, wrong, 'rate_limited', wrong, wrong])
    } finally {
      await sql(`update auth.settings set document = '{}'`)
    }
  })
})

describe('a user who changes while another request decides', () => {
  it('of thirty upgrades of one guest at once, one wins', async () => {
    await sql('update auth.users set email = null, is_anonymous = true where id = $1', [id])
    const codes = await auth.atOnce('auth.users', async (n) => {
      const upgraded = await users.upgrade(id, { email: `${n}.${id}@example.com`, isConfirmed: false, data: {} })
      if (upgraded === 'not_anonymous') throw authError('not_anonymous')
    })
    expect(codes.filter((code) => code === 'done')).toHaveLength(1)
    expect(codes.filter((code) => code === 'not_anonymous')).toHaveLength(29)
  })

  it('whose credentials were revoked, or who was disabled, has no session of a sign-in from before', async () => {
    const user = await userOf()
    expect(await request(() => users.signedIn(user))).toBe(true)
    await sql(
      `update auth.users set tokens_valid_after = date_trunc('milliseconds', clock_timestamp()) where id = $1`,
      [id],
    )
    expect(await request(() => users.signedIn(user))).toBe(false)
    const renewed = await userOf()
    expect(await request(() => users.signedIn(renewed))).toBe(true)
    await sql('update auth.users set disabled_at = now() where id = $1', [id])
    expect(await request(() => users.signedIn(renewed))).toBe(false)
  })
})

describe('a change of second factors', () => {
  const secondStep = new SecondStep(challenges, factors, sessions, signIns)
  const mfa = new AdministeredMfaController(
    audit,
    challenges,
    factors,
    limits,
    notices,
    recovery,
    sessions,
    settings,
    users,
  )

  it('asks for a sign-in of the last ten minutes', async () => {
    const ask = (secondsAgo: number) =>
      codeOf(() => secondStep.requireProof(id), { sub: id, auth_time: Math.floor(Date.now() / 1000) - secondsAgo })
    expect([await ask(0), await ask(590), await ask(610)]).toEqual(['done', 'done', 'recent_sign_in_required'])
  })

  it('by an administrator leaves no recovery code, and says how many sessions ended', async () => {
    await request(() => recovery.renew(id))
    expect(await request(() => recovery.countOf(id))).toMatchObject({ remaining: 10 })
    expect(await request(() => mfa.reset(id, null, http, 'req_1'))).toEqual({
      user_id: id,
      removed: 0,
      sessions_ended: 0,
    })
    expect(await request(() => recovery.countOf(id))).toBeNull()
    expect(
      await sql(`select event_type from stack.audit where target_id = $1 and event_type = 'mfa.reset'`, [id]),
    ).toHaveLength(1)
  })
})
