/** What many requests at the same time can do to one account: each right is given once, and no user is signed out by it. */
import { beforeAll, describe, expect, it } from 'vitest'
import { type Answer, useStack } from '../../support/stack.ts'
import { codeOf } from '../../support/totp.ts'

const shop = useStack('examples/orders')

const password = 'correct horse battery'
const parallel = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)))
const refresh = (refresh_token: string) => shop.call('/auth/token/refresh', { json: { refresh_token } })
const signIn = (email: string) => shop.call('/auth/sign-in/password', { json: { email, password } })
const statusesOf = (answers: Answer[]) => answers.map(({ status }) => status)
const kidOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid

/** More attempts than a client may make: the limits would hide what is tried here. */
const wide = { attempts: 10_000, seconds: 1 }

beforeAll(() =>
  shop.call('/v1/management/auth/settings', {
    method: 'PUT',
    json: { rate_limits: { refresh_per_session: wide, second_factor_per_account: wide, sign_in_per_account: wide } },
    headers: { apikey: shop.stack.record.service_role_key },
  }),
)

describe('9.15 the rotation of the signing key', () => {
  it('under load refuses no token, of the key before or after', async () => {
    const rotate = () =>
      shop.call('/v1/management/auth/keys/signing/rotate', {
        method: 'POST',
        headers: { apikey: shop.stack.record.service_role_key },
      })
    // it publishes two keys: one that signs in ten minutes, and its successor. The backend reads its first key set afterwards.
    await rotate()
    const people = await parallel(8, () => shop.signUp())
    const seen = new Set<string>()
    let isOver = false
    const load = people.map(async ({ token, refreshToken }) => {
      const statuses: number[] = []
      let [access, last] = [token, refreshToken]
      while (!isOver) {
        const refreshed = await refresh(last)
        statuses.push(refreshed.status)
        statuses.push((await shop.call('/orders', { token: access })).status) // the token of before the refresh
        access = refreshed.json.access_token
        last = refreshed.json.refresh_token
        seen.add(kidOf(access))
        statuses.push((await shop.call('/orders', { token: access })).status)
      }
      return statuses
    })
    const signers = (count: number) => expect.poll(() => seen.size, { timeout: 30_000 }).toBe(count)
    try {
      await signers(1)
      for (const count of [2, 3]) {
        expect((await rotate()).status).toBe(200)
        // ten minutes pass, after which every verifier has read the key set anew
        await shop.sql('update auth.signing_keys set activate_at = now() where activate_at > now()')
        await signers(count)
      }
    } finally {
      isOver = true
    }
    const statuses = (await Promise.all(load)).flat()
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(statuses.length).toBeGreaterThan(50)
  })
})

async function withSecondFactor() {
  const person = await shop.signUp()
  const { token } = person
  const { json } = await shop.call('/auth/mfa/totp/enrol', { token, json: {} })
  const { factor_id, secret } = json
  const verified = await shop.call('/auth/mfa/totp/verify', { token, json: { factor_id, code: codeOf(secret, -1) } })
  expect(verified.status).toBe(200)
  return { ...person, secret: secret as string, recoveryCodes: verified.json.recovery_codes as string[] }
}

describe('a refresh token', () => {
  it('that fifty requests present has one successor, and no one is signed out', async () => {
    const { id, refreshToken } = await shop.signUp()
    const answers = await parallel(50, () => refresh(refreshToken))
    expect(new Set(statusesOf(answers))).toEqual(new Set([200]))
    const successors = new Set(answers.map(({ json }) => json.refresh_token))
    expect(successors.size).toBe(1)
    const [row] = await shop.sql('select refresh_generation::int, ended_at from auth.sessions where user_id = $1', [id])
    expect(row).toEqual({ refresh_generation: 1, ended_at: null })
    expect((await refresh([...successors][0]!)).status).toBe(200)
  })

  it.each([
    ['deleted', (id: string) => shop.sql('delete from auth.users where id = $1', [id])],
    ['disabled', (id: string) => shop.sql('update auth.users set disabled_at = now() where id = $1', [id])],
    [
      'signed out',
      (id: string) =>
        shop.sql(`update auth.sessions set ended_at = now(), end_reason = 'signed_out' where user_id = $1`, [id]),
    ],
  ])('of a user who was %s is refused at once, also among many', async (_what, end) => {
    const { id, token, refreshToken } = await shop.signUp()
    expect((await shop.call('/orders', { token })).status).toBe(200)
    await end(id)
    expect(new Set(statusesOf(await parallel(30, () => refresh(refreshToken))))).toEqual(new Set([401]))
    expect((await shop.call('/auth/sessions', { token })).status).toBe(401)
  })
})

describe('a second factor', () => {
  const challengesOf = async (email: string) => {
    const answers = await parallel(30, () => signIn(email))
    expect(new Set(answers.map(({ status, text }) => (status === 202 ? status : text)))).toEqual(new Set([202]))
    return answers.map(({ json }) => json.challenge_id as string)
  }

  it('takes one code once, in thirty sign-ins', async () => {
    const { email, secret } = await withSecondFactor()
    const challenges = await challengesOf(email)
    const code = codeOf(secret)
    const answers = await parallel(30, (index) =>
      shop.call('/auth/mfa/challenge', { json: { challenge_id: challenges[index], code } }),
    )
    expect(statusesOf(answers).filter((status) => status === 200)).toHaveLength(1)
    expect(new Set(statusesOf(answers))).toEqual(new Set([200, 401]))
  })

  it('takes one recovery code once, in thirty sign-ins', async () => {
    const { email, recoveryCodes } = await withSecondFactor()
    const challenges = await challengesOf(email)
    const answers = await parallel(30, (index) =>
      shop.call('/auth/mfa/challenge', { json: { challenge_id: challenges[index], recovery_code: recoveryCodes[0] } }),
    )
    expect(statusesOf(answers).filter((status) => status === 200)).toHaveLength(1)
    expect(new Set(statusesOf(answers))).toEqual(new Set([200, 401]))
    expect((await shop.mails(email)).filter(({ template }) => template === 'recovery_code_used').length).toBeLessThan(2)
  })
})
