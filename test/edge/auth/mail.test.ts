/** Mail over the running stack: confirmation, forgotten passwords, changed addresses, notices, and what becomes of a message. */
import { afterEach, describe, expect, it } from 'vitest'
import { useStack } from '../../support/stack.ts'

const shop = useStack('examples/orders')

const management = '/v1/management/auth'
const password = 'correct horse battery'
const settings = (json: object) =>
  shop.call(`${management}/settings`, { method: 'PUT', json, headers: { apikey: shop.stack.record.service_role_key } })
const address = () => `${crypto.randomUUID()}@example.com`
const signUp = (email: string, given = password) => shop.call('/auth/sign-up', { json: { email, password: given } })
const signIn = (email: string, given = password) =>
  shop.call('/auth/sign-in/password', { json: { email, password: given } })
const post = (path: string, json: object, token?: string) => shop.call(path, { json, ...(token ? { token } : {}) })
const tokenIn = ({ text }: { text: string }) => /[?&]token=([A-Za-z0-9_-]{43})/.exec(text)![1]!
const codeIn = ({ text }: { text: string }) => /code: (\d{6})/.exec(text)![1]!
const events = async (id: string) =>
  (
    await shop.sql<{ event_type: string }>('select event_type from auth.audit where target_id = $1 order by id', [id])
  ).map(({ event_type }) => event_type)
/** An identity, a second factor and a phone number, as an intruder could add them. */
async function addWaysIn(id: string): Promise<void> {
  await shop.sql(`insert into auth.identities (provider, subject, user_id) values ('github', $1, $1)`, [id])
  await shop.sql(
    `insert into auth.mfa_factors (id, user_id, type, status, sealed_secret, verified_at)
      values ('fac_' || $1, $1, 'totp', 'verified', 'x', now())`,
    [id],
  )
  const phone = `+4915${String(Math.floor(Math.random() * 1e9)).padStart(9, '0')}`
  await shop.sql('update auth.users set phone = $2, phone_confirmed_at = now() where id = $1', [id, phone])
}

/** @returns the number of identities, that of second factors, and the phone number. */
async function waysIn(id: string): Promise<unknown[]> {
  const [row] = await shop.sql<{ identities: number; factors: number; phone: string | null }>(
    `select (select count(*)::int from auth.identities where user_id = $1) as identities,
      (select count(*)::int from auth.mfa_factors where user_id = $1) as factors, phone from auth.users where id = $1`,
    [id],
  )
  return [row!.identities, row!.factors, row!.phone]
}

const thirty = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: 30 }, work))

afterEach(() => settings({}))

describe('the confirmation of an address', () => {
  it('comes by link or by code, and begins no session', async () => {
    for (const present of [(mail: { text: string }) => ({ token: tokenIn(mail) }), undefined]) {
      const email = address()
      const { json } = await signUp(email)
      expect(json.user.email_verified).toBe(false)
      const mail = await shop.mail(email, 'confirm_email')
      const body = present?.(mail) ?? { email, code: codeIn(mail) }
      const answer = await post('/auth/email/confirm', body)
      expect([answer.status, answer.json]).toEqual([200, { status: 'confirmed', email }])
      expect((await post('/auth/email/confirm', body)).json.error).toBe('invalid_token')
      expect((await shop.call('/auth/user', { token: json.access_token })).json.email_verified).toBe(true)
      expect(await events(json.user.id)).toContain('user.email_confirmed')
      const refreshed = await post('/auth/token/refresh', { refresh_token: json.refresh_token })
      const claims = JSON.parse(Buffer.from(refreshed.json.access_token.split('.')[1], 'base64url').toString())
      expect(claims.email_verified).toBe(true)
    }
  })

  it('is asked for before any session where the settings require it, and the answers tell no account', async () => {
    await settings({ confirm_email_required: true })
    const email = address()
    const first = await signUp(email)
    expect([first.status, first.json]).toEqual([200, { status: 'confirmation_required' }])
    expect((await signIn(email)).json).toMatchObject({ error: 'email_not_confirmed', status: 403 })
    const mail = await shop.mail(email, 'confirm_email')
    const second = await signUp(email, 'another horse battery')
    expect([second.status, second.text]).toEqual([first.status, first.text])
    // neither of the two has proved the address: the mail lets its owner choose a password
    const choose = tokenIn(await shop.mail(email, 'reset_password'))
    expect((await post('/auth/email/confirm', { token: tokenIn(mail) })).json.error).toBe('invalid_token')
    for (const given of [password, 'another horse battery']) expect((await signIn(email, given)).status).toBe(401)
    expect((await post('/auth/password/reset', { token: choose, password })).status).toBe(200)
    expect((await signIn(email)).status).toBe(200)
  })

  it('is sent again for an address that waits for it, and the answer is the same for every other', async () => {
    const [known, unknown, confirmed] = [address(), address(), address()]
    for (const email of [known, confirmed]) await signUp(email)
    await post('/auth/email/confirm', { token: tokenIn(await shop.mail(confirmed)) })
    const answers = await Promise.all([known, unknown, confirmed].map((email) => post('/auth/email/resend', { email })))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(new Set(['202 {"status":"sent"}']))
    await expect.poll(async () => (await shop.mails(known)).length).toBe(2)
    expect([(await shop.mails(unknown)).length, (await shop.mails(confirmed)).length]).toEqual([0, 1])
    // the earlier mail may be the one that is opened
    expect((await post('/auth/email/confirm', { token: tokenIn((await shop.mails(known))[1]!) })).status).toBe(200)
    expect((await post('/auth/email/confirm', { token: tokenIn((await shop.mails(known))[0]!) })).status).toBe(400)
  })

  it('works once, however many try it at the same time', async () => {
    for (const kind of ['token', 'code']) {
      const email = address()
      await signUp(email)
      const mail = await shop.mail(email)
      const body = kind === 'token' ? { token: tokenIn(mail) } : { email, code: codeIn(mail) }
      const statuses = (await thirty(() => post('/auth/email/confirm', body))).map(({ status }) => status)
      expect(statuses.filter((status) => status === 200)).toHaveLength(1)
      expect(statuses.filter((status) => status >= 500)).toEqual([])
    }
  })

  it('takes five wrong codes and no more, also in parallel', async () => {
    await settings({ rate_limits: { code_per_recipient: { attempts: 1_000, seconds: 1 } } })
    const email = address()
    await signUp(email)
    const mail = await shop.mail(email)
    const wrong = codeIn(mail) === '000000' ? '000001' : '000000'
    for (let tries = 0; tries < 5; tries++)
      expect((await post('/auth/email/confirm', { email, code: wrong })).json.error).toBe('invalid_token')
    expect((await post('/auth/email/confirm', { email, code: codeIn(mail) })).json.error).toBe('invalid_token')
    expect((await post('/auth/email/confirm', { token: tokenIn(mail) })).status).toBe(200) // the link is not guessed
  })

  it('limits guesses over all codes of an address, with 429', async () => {
    const email = address()
    const answers = await thirty(() => post('/auth/email/confirm', { email, code: '123456' }))
    const limited = answers.filter(({ status }) => status === 429)
    expect(limited.length).toBeGreaterThanOrEqual(20)
    expect(Number(limited[0]!.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  it.each([
    ['a token of another purpose', (token: string) => ({ token }), 400, 'invalid_token'],
    ['a token that is too short', (token: string) => ({ token: token.slice(1) }), 400, 'invalid_request'],
    ['both', (token: string, email: string) => ({ token, email, code: '123456' }), 400, 'invalid_request'],
    ['a code without an address', () => ({ code: '123456' }), 400, 'invalid_request'],
    ['nothing', () => ({}), 400, 'invalid_request'],
  ])('refuses %s', async (_what, body, status, error) => {
    const email = address()
    await signUp(email)
    await post('/auth/password/forgot', { email })
    const { json } = await post('/auth/email/confirm', body(tokenIn(await shop.mail(email, 'reset_password')), email))
    expect(json).toMatchObject({ status, error })
  })

  it('is over after its time', async () => {
    const email = address()
    await signUp(email)
    const mail = await shop.mail(email)
    await shop.sql(`update auth.one_time_tokens set code_expires_at = now() where target = $1`, [email])
    expect((await post('/auth/email/confirm', { email, code: codeIn(mail) })).json.error).toBe('invalid_token')
    await shop.sql(`update auth.one_time_tokens set expires_at = now() where target = $1`, [email])
    expect((await post('/auth/email/confirm', { token: tokenIn(mail) })).json.error).toBe('invalid_token')
  })
})

describe('a forgotten password', () => {
  it('is replaced with the mail: sessions end, the address is confirmed, the owner is told', async () => {
    const { id, email, token, refreshToken } = await shop.signUp()
    expect(await post('/auth/password/forgot', { email })).toMatchObject({ status: 202, text: '{"status":"sent"}' })
    const mail = await shop.mail(email, 'reset_password')
    const next = 'a new horse battery'
    const short = await post('/auth/password/reset', { token: tokenIn(mail), password: 'short' })
    expect(short.json.error).toBe('invalid_password')
    expect((await post('/auth/password/reset', { token: tokenIn(mail), password: next })).json).toEqual({
      status: 'reset',
    })
    expect((await post('/auth/password/reset', { token: tokenIn(mail), password: next })).json.error).toBe(
      'invalid_token',
    )
    expect((await shop.call('/orders', { token })).status).toBe(401)
    expect((await post('/auth/token/refresh', { refresh_token: refreshToken })).status).toBe(401)
    expect((await signIn(email)).json.error).toBe('invalid_credentials')
    expect((await signIn(email, next)).json.user.email_verified).toBe(true)
    expect((await shop.mail(email, 'password_changed')).text).toMatch(/was changed/)
    expect(await events(id)).toEqual(expect.arrayContaining(['password.reset']))
  })

  it('is replaced with the code too', async () => {
    const { email } = await shop.signUp()
    await post('/auth/password/forgot', { email })
    const code = codeIn(await shop.mail(email, 'reset_password'))
    const next = 'a new horse battery'
    expect(
      (await post('/auth/password/reset', { email, code: ` ${code.slice(0, 3)} ${code.slice(3)}`, password: next }))
        .status,
    ).toBe(200)
    expect((await signIn(email, next)).status).toBe(200)
  })

  it('of an unknown or disabled account gets the same answer, and no mail', async () => {
    const known = await shop.signUp()
    const disabled = await shop.signUp()
    await shop.sql('update auth.users set disabled_at = now() where id = $1', [disabled.id])
    const unknown = address()
    const answers = await Promise.all(
      [known.email, disabled.email, unknown].map((email) => post('/auth/password/forgot', { email })),
    )
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    await shop.mail(known.email, 'reset_password')
    await expect
      .poll(() =>
        shop.sql(`select status from auth.outbox where recipient = any ($1) and template = 'reset_password'`, [
          [disabled.email, unknown],
        ]),
      )
      .toEqual([{ status: 'dropped' }, { status: 'dropped' }])
    expect(await shop.mails(unknown)).toEqual([])
  })

  it('is set once, however many set it at the same time', async () => {
    const { email } = await shop.signUp()
    await post('/auth/password/forgot', { email })
    const token = tokenIn(await shop.mail(email, 'reset_password'))
    let number = 0
    const answers = await thirty(async () => {
      const given = `a new horse battery ${number++}`
      return { given, ...(await post('/auth/password/reset', { token, password: given })) }
    })
    const won = answers.filter(({ status }) => status === 200)
    expect([won.length, answers.filter(({ status }) => status >= 500)]).toEqual([1, []])
    expect((await signIn(email, won[0]!.given)).status).toBe(200)
  })

  it('of an address is asked for three times a minute, known or not', async () => {
    for (const email of [(await shop.signUp()).email, address()]) {
      const answers = []
      for (let count = 0; count < 4; count++) answers.push((await post('/auth/password/forgot', { email })).status)
      expect(answers).toEqual([202, 202, 202, 429])
    }
  })

  it('that first proves the address removes every way in of who made the account', async () => {
    const { id, email } = await shop.signUp()
    await addWaysIn(id)
    await post('/auth/password/forgot', { email })
    const token = tokenIn(await shop.mail(email, 'reset_password'))
    expect((await post('/auth/password/reset', { token, password: 'a new horse battery' })).status).toBe(200)
    expect(await waysIn(id)).toEqual([0, 0, null])
    expect((await signIn(email, 'a new horse battery')).status).toBe(200)
  })

  it('leaves the second factor of a confirmed address: the next sign-in asks for it', async () => {
    const { id, email } = await shop.signUp()
    await shop.sql('update auth.users set email_confirmed_at = now() where id = $1', [id])
    await shop.sql(
      `insert into auth.mfa_factors (id, user_id, type, status, sealed_secret, verified_at)
        values ('fac_reset', $1, 'totp', 'verified', 'x', now())`,
      [id],
    )
    await post('/auth/password/forgot', { email })
    const token = tokenIn(await shop.mail(email, 'reset_password'))
    await post('/auth/password/reset', { token, password: 'a new horse battery' })
    expect((await signIn(email, 'a new horse battery')).status).toBe(202)
  })
})

describe('another address', () => {
  const change = (email: string, token: string, current_password: string | undefined = password) =>
    post('/auth/email/change', { email, ...(current_password === undefined ? {} : { current_password }) }, token)

  it('counts once its mail has come back, and the present one hears of both', async () => {
    const { id, email, token } = await shop.signUp()
    await post('/auth/email/confirm', { token: tokenIn(await shop.mail(email)) })
    const next = address()
    expect((await change(next, token, 'wrong password')).json.error).toBe('invalid_credentials')
    expect((await post('/auth/email/change', { email: next }, token)).json.error).toBe('invalid_credentials')
    expect(await change(next, token)).toMatchObject({ status: 202, json: { status: 'sent' } })
    expect((await shop.call('/auth/user', { token })).json.email).toBe(email)
    const mail = await shop.mail(next, 'email_change_confirm')
    await shop.mail(email, 'email_change_notice')
    expect((await post('/auth/email/change/confirm', { token: tokenIn(mail) })).json).toEqual({
      status: 'changed',
      email: next,
    })
    expect((await shop.call('/auth/user', { token })).json).toMatchObject({ email: next, email_verified: true })
    expect((await shop.mail(email, 'email_changed')).text).toContain(next)
    expect((await signIn(email)).status).toBe(401)
    expect((await signIn(next)).status).toBe(200)
    expect(await events(id)).toEqual(expect.arrayContaining(['user.email_change_requested', 'user.email_changed']))
  })

  it('is taken back by the former one: sessions end, the password goes, a new one is chosen', async () => {
    const { id, email, token } = await shop.signUp()
    await post('/auth/email/confirm', { token: tokenIn(await shop.mail(email)) })
    const next = address()
    await change(next, token)
    await addWaysIn(id)
    const undo = tokenIn(await shop.mail(email, 'email_change_notice'))
    await post('/auth/email/change/confirm', { token: tokenIn(await shop.mail(next, 'email_change_confirm')) })
    expect((await post('/auth/email/undo', { token: undo })).json).toEqual({ status: 'kept', email })
    expect((await post('/auth/email/undo', { token: undo })).json.error).toBe('invalid_token')
    expect((await shop.call('/orders', { token })).status).toBe(401)
    expect(await waysIn(id)).toEqual([0, 0, null])
    for (const one of [email, next]) expect((await signIn(one)).status).toBe(401)
    const reset = tokenIn(await shop.mail(email, 'reset_password'))
    expect((await post('/auth/password/reset', { token: reset, password: 'a new horse battery' })).status).toBe(200)
    expect((await signIn(email, 'a new horse battery')).status).toBe(200)
  })

  it('that belongs to an account tells its owner alone', async () => {
    const [one, other] = [await shop.signUp(), await shop.signUp()]
    const free = await change(address(), one.token)
    const taken = await change(other.email, one.token)
    expect([taken.status, taken.text]).toEqual([free.status, free.text])
    expect((await shop.mail(other.email, 'existing_account')).text).not.toMatch(/token=/)
  })

  it('that is taken meanwhile is refused, and the account stays as it was', async () => {
    const { email, token } = await shop.signUp()
    const next = address()
    await change(next, token)
    const mail = await shop.mail(next, 'email_change_confirm')
    await signUp(next)
    expect((await post('/auth/email/change/confirm', { token: tokenIn(mail) })).json.error).toBe('email_taken')
    expect((await shop.call('/auth/user', { token })).json.email).toBe(email)
  })

  it('refuses the present one, and a guest', async () => {
    const { email, token } = await shop.signUp()
    expect((await change(email, token)).json.error).toBe('same_email')
    const guest = await shop.call('/auth/anonymous', { method: 'POST' })
    expect((await change(address(), guest.json.access_token)).status).toBe(401)
  })
})

describe('addresses', () => {
  it.each([
    ['Ada+tag@Example.com', 'ada+tag@example.com'],
    ['a.d.a@example.com', 'a.d.a@example.com'],
    ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
  ])('%s is %s, an account of its own', async (typed, stored) => {
    const own = crypto.randomUUID().slice(0, 8)
    const name = (text: string) => text.replace('@', `${own}@`)
    expect((await signUp(name(typed))).json.user.email).toBe(name(stored))
    expect((await shop.mail(name(stored))).to).toBe(name(stored))
  })

  it.each([
    'ada@example.com>\r\nRCPT TO:<evil@example.org',
    'ada@example.com\r\nBcc: evil@example.org',
    'ada@example.com, evil@example.org',
    '"ada"@example.com',
    'аda@example.com',
  ])('%j is refused', async (email) => {
    for (const path of ['/auth/sign-up', '/auth/sign-in/password', '/auth/password/forgot', '/auth/email/resend']) {
      const body = path.includes('sign') ? { email, password } : { email }
      expect((await post(path, body)).json).toMatchObject({ error: 'invalid_request', fields: [{ path: 'email' }] })
    }
  })
})

it('an address has 254 characters at most', async () => {
  const of = (length: number) =>
    `${crypto.randomUUID()}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}.${'e'.repeat(length - 231)}.x`
  expect([of(254).length, (await signUp(of(254))).status]).toEqual([254, 200])
  expect([of(255).length, (await signUp(of(255))).status]).toEqual([255, 400])
})

describe('security notices', () => {
  it('tell of a new device, and not of a known one', async () => {
    const { email } = await shop.signUp()
    await post('/auth/email/confirm', { token: tokenIn(await shop.mail(email)) })
    await signIn(email)
    const other = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' }
    await shop.call('/auth/sign-in/password', { json: { email, password }, headers: other })
    expect((await shop.mail(email, 'new_sign_in')).text).toContain('Firefox on Linux')
    await shop.call('/auth/sign-in/password', { json: { email, password }, headers: other })
    expect((await shop.mails(email)).filter(({ template }) => template === 'new_sign_in')).toHaveLength(1)
  })

  it('tell of a session that was ended because its token was used twice', async () => {
    const { email, refreshToken } = await shop.signUp()
    for (let count = 0; count < 2; count++) {
      const { json } = await post('/auth/token/refresh', { refresh_token: refreshToken })
      await post('/auth/token/refresh', { refresh_token: json.refresh_token })
    }
    expect((await shop.mail(email, 'session_reuse_detected')).text).toContain('sign in again')
  })

  it('show a value of a client as text', async () => {
    const { email } = await shop.signUp()
    const headers = { 'user-agent': '<script>alert(1)</script>' }
    await shop.call('/auth/password/change', {
      json: { current_password: password, password: 'a new horse battery' },
      token: (await signIn(email)).json.access_token,
      headers,
    })
    const { html } = await shop.mail(email, 'password_changed')
    expect(html).not.toContain('<script>')
  })
})

describe('what the database has of messages', () => {
  it('is no token and no code, sent or not', async () => {
    const { email } = await shop.signUp()
    await post('/auth/password/forgot', { email })
    const mail = await shop.mail(email, 'reset_password')
    const rows = await shop.sql<{ row: string }>(
      `select to_jsonb(outbox)::text as row from auth.outbox union all select to_jsonb(one_time_tokens)::text from auth.one_time_tokens`,
    )
    const dump = rows.map(({ row }) => row).join('\n')
    expect([dump.includes(tokenIn(mail)), dump.includes(`"${codeIn(mail)}"`)]).toEqual([false, false])
    const log = JSON.stringify(shop.log)
    expect([log.includes(tokenIn(mail)), log.includes(codeIn(mail))]).toEqual([false, false])
  })
})
