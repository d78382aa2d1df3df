/** Second factors over HTTP: enrolment, sign-in in two steps, recovery codes, and what many attempts at once can do. */
import { describe, expect, it } from 'vitest'
import { useStack } from '../../support/stack.ts'
import { codeOf } from '../../support/totp.ts'

const shop = useStack('examples/orders')

const password = 'correct horse battery'
const signIn = (email: string) => shop.call('/auth/sign-in/password', { json: { email, password } })
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
const challenge = (json: object) => shop.call('/auth/mfa/challenge', { json })

/** A user with a verified factor. Its first code was of the time step before this one, so that the current code is unused. */
async function enrolled() {
  const person = await shop.signUp()
  const { json } = await shop.call('/auth/mfa/totp/enrol', { token: person.token, json: { label: 'a telephone' } })
  const verify = (code: string) =>
    shop.call('/auth/mfa/totp/verify', { token: person.token, json: { factor_id: json.factor_id, code } })
  const verified = await verify(codeOf(json.secret, -1))
  expect(verified.status).toBe(200)
  return { ...person, ...json, recoveryCodes: verified.json.recovery_codes as string[], verify }
}

describe('enrolment', () => {
  it('gives a secret, a URI and a QR code once, and counts from its first code on', async () => {
    const { token, email } = await shop.signUp()
    const { status, json } = await shop.call('/auth/mfa/totp/enrol', { token, json: {} })
    expect([status, json.secret]).toEqual([200, expect.stringMatching(/^[A-Z2-7]{32}$/)])
    expect(json.uri).toContain(`secret=${json.secret}`)
    expect(decodeURIComponent(json.uri)).toContain(email)
    expect(json.qr_svg).toMatch(/^<svg .*<\/svg>$/s)
    expect((await signIn(email)).status).toBe(200)
    const [row] = await shop.sql<{ sealed_secret: string }>(
      'select sealed_secret from auth.mfa_factors where id = $1',
      [json.factor_id],
    )
    expect(row!.sealed_secret).not.toContain(json.secret)
    const read = await shop.call('/auth/mfa', { token })
    expect([read.json.factors.length, read.json.recovery_codes, read.text.includes(json.secret)]).toEqual([
      1,
      null,
      false,
    ])
    const wrong = await shop.call('/auth/mfa/totp/verify', {
      token,
      json: { factor_id: json.factor_id, code: '000000' },
    })
    expect(wrong.json).toMatchObject({ error: 'invalid_code', status: 401 })
  })

  it('raises the session at once, which the next token says; a second factor is refused', async () => {
    const { token, refreshToken, recoveryCodes } = await enrolled()
    const { json } = await shop.call('/auth/token/refresh', { json: { refresh_token: refreshToken } })
    const { aal, amr } = claimsOf(json.access_token)
    expect([aal, amr.sort()]).toEqual(['aal2', ['mfa', 'otp', 'pwd']])
    expect(new Set(recoveryCodes).size).toBe(10)
    expect((await shop.call('/auth/mfa/totp/enrol', { token, json: {} })).json.error).toBe('factor_exists')
    expect((await shop.call('/auth/mfa', { token })).json.recovery_codes).toMatchObject({ total: 10, remaining: 10 })
  })

  it('asks for a sign-in that is fresh, and for an account', async () => {
    const { token } = await enrolled()
    for (const path of ['/auth/mfa/totp/enrol', '/auth/mfa/recovery-codes']) {
      expect((await shop.call(path, { json: {} })).status).toBe(401)
    }
    const guest = (await shop.call('/auth/anonymous', { method: 'POST' })).json.access_token
    expect((await shop.call('/auth/mfa/totp/enrol', { token: guest, json: {} })).status).toBe(401)
    expect((await shop.call('/auth/mfa/recovery-codes', { token, method: 'POST' })).status).toBe(200)
  })

  it('the setup code is used up', async () => {
    const { email, secret } = await enrolled()
    const { json } = await signIn(email)
    const again = await challenge({ challenge_id: json.challenge_id, code: codeOf(secret, -1) })
    expect(again.json.error).toBe('invalid_code')
  })
})

describe('sign-in with a second factor', () => {
  it('needs both, and the session says so', async () => {
    const { email, secret, factor_id } = await enrolled()
    const { status, json } = await signIn(email)
    expect([status, json]).toEqual([
      202,
      {
        mfa_required: true,
        challenge_id: expect.any(String),
        factors: [{ id: factor_id, type: 'totp', label: 'a telephone' }],
      },
    ])
    expect((await challenge({ challenge_id: json.challenge_id, code: '000000' })).json.error).toBe('invalid_code')
    const done = await challenge({ challenge_id: json.challenge_id, code: codeOf(secret) })
    expect(done.status).toBe(200)
    expect(claimsOf(done.json.access_token)).toMatchObject({ aal: 'aal2', amr: ['pwd', 'otp', 'mfa'] })
    expect((await shop.call('/orders', { token: done.json.access_token })).status).toBe(200)
    expect((await challenge({ challenge_id: json.challenge_id, code: codeOf(secret, 1) })).json.error).toBe(
      'invalid_challenge',
    )
  })

  it('a wrong password tells nothing of the factor', async () => {
    const { email } = await enrolled()
    const plain = await shop.signUp()
    const attempt = async (to: string) =>
      (await shop.call('/auth/sign-in/password', { json: { email: to, password: 'wrong password' } })).json
    const [one, other] = [await attempt(email), await attempt(plain.email)]
    expect([one.error, one.error_description]).toEqual([other.error, other.error_description])
  })

  it('one code works once, however many try it at the same time', async () => {
    const { email, secret } = await enrolled()
    await shop.call('/v1/management/auth/settings', {
      method: 'PUT',
      json: { rate_limits: { second_factor_per_account: { attempts: 1000, seconds: 60 } } },
      headers: { apikey: shop.stack.record.service_role_key },
    })
    const challenges = []
    for (let count = 0; count < 6; count++) challenges.push((await signIn(email)).json.challenge_id)
    const code = codeOf(secret)
    const attempts = challenges.flatMap((challenge_id) =>
      Array.from({ length: 5 }, () => challenge({ challenge_id, code })),
    )
    const answers = await Promise.all(attempts)
    expect(answers).toHaveLength(30)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(new Set(answers.filter(({ status }) => status !== 200).map(({ status }) => status))).toEqual(new Set([401]))
  })

  it('one recovery code works once; thirty tries at once sign in one', async () => {
    const { email, recoveryCodes, token } = await enrolled()
    const challenges = []
    for (let count = 0; count < 6; count++) challenges.push((await signIn(email)).json.challenge_id)
    const recovery_code = recoveryCodes[0]!.toUpperCase().replaceAll('-', ' ')
    const answers = await Promise.all(
      challenges.flatMap((challenge_id) => Array.from({ length: 5 }, () => challenge({ challenge_id, recovery_code }))),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect((await shop.call('/auth/mfa', { token })).json.recovery_codes).toMatchObject({ total: 10, remaining: 9 })
    const renewed = await shop.call('/auth/mfa/recovery-codes', { token, method: 'POST' })
    expect(renewed.json.recovery_codes).toHaveLength(10)
    const { json } = await signIn(email)
    const old = await challenge({ challenge_id: json.challenge_id, recovery_code: recoveryCodes[1]! })
    expect(old.json.error).toBe('invalid_code')
  })

  it('a challenge has five attempts; after them the right code is refused too', async () => {
    const { email, secret } = await enrolled()
    const { challenge_id } = (await signIn(email)).json
    for (let attempt = 0; attempt < 5; attempt++) {
      expect((await challenge({ challenge_id, code: '000000' })).json.error).toBe('invalid_code')
    }
    expect((await challenge({ challenge_id, code: codeOf(secret) })).json.error).toBe('invalid_challenge')
    expect((await challenge({ challenge_id: 'chl_unknown', code: '000000' })).json.error).toBe('invalid_challenge')
  })

  it('is removed by its owner, with the recovery codes; another user’s is not found', async () => {
    const { email, token, factor_id } = await enrolled()
    const other = await shop.signUp()
    const remove = (as: string) => shop.call(`/auth/mfa/${factor_id}`, { method: 'DELETE', token: as })
    expect((await remove(other.token)).json.error).toBe('factor_not_found')
    expect((await remove(token)).status).toBe(204)
    expect((await shop.call('/auth/mfa', { token })).json).toEqual({ factors: [], recovery_codes: null })
    expect((await signIn(email)).status).toBe(200)
  })
})
