/** Attacks on accounts over the running stack: by who knows the password, and by who has made the account. */
import { afterEach, describe, expect, it } from 'vitest'
import { useStack } from '../../support/stack.ts'

const shop = useStack('examples/orders')

const password = 'correct horse battery'
const settings = (json: object) =>
  shop.call('/v1/management/auth/settings', {
    method: 'PUT',
    json,
    headers: { apikey: shop.stack.record.service_role_key },
  })
const address = () => `${crypto.randomUUID()}@example.com`
const post = (path: string, json: object, token?: string) => shop.call(path, { json, ...(token ? { token } : {}) })
const tokenIn = ({ text }: { text: string }) => /[?&]token=([A-Za-z0-9_-]{43})/.exec(text)![1]!

/** An account with a confirmed address, whose password and session an intruder knows. */
async function known() {
  const account = await shop.signUp()
  await post('/auth/email/confirm', { token: tokenIn(await shop.mail(account.email, 'confirm_email')) })
  return account
}
const change = (email: string, token: string) =>
  post('/auth/email/change', { email, current_password: password }, token)

afterEach(() => settings({}))

describe('an intruder who knows the password', () => {
  it('does not complete a change of the address after the owner has changed the password', async () => {
    const { email, token } = await known()
    const evil = address()
    expect((await change(evil, token)).status).toBe(202)
    const pending = tokenIn(await shop.mail(evil, 'email_change_confirm'))
    // the notice alarms the owner, who changes the password: every other session ends
    const own = await post('/auth/sign-in/password', { email, password })
    const changed = await post(
      '/auth/password/change',
      { current_password: password, password: 'a new horse battery' },
      own.json.access_token,
    )
    expect(changed.status).toBe(204)
    // the change needs no session: the account is the intruder's
    const completed = await post('/auth/email/change/confirm', { token: pending })
    expect([completed.status, completed.json.error]).toEqual([400, 'invalid_token'])
  })

  it('does not keep the former owner from undoing the change by an undo of their own', async () => {
    const { email, token } = await known()
    const [evil, other] = [address(), address()]
    await change(evil, token)
    const undo = tokenIn(await shop.mail(email, 'email_change_notice'))
    await post('/auth/email/change/confirm', { token: tokenIn(await shop.mail(evil, 'email_change_confirm')) })
    await change(other, token)
    const ownUndo = tokenIn(await shop.mail(evil, 'email_change_notice'))
    await post('/auth/email/undo', { token: ownUndo })
    const taken = await post('/auth/email/undo', { token: undo })
    expect([taken.status, taken.json]).toEqual([200, { status: 'kept', email }])
  })

  it('does not keep the former owner from undoing the change by a sign-up with the former address', async () => {
    const { email, token } = await known()
    const evil = address()
    await change(evil, token)
    const undo = tokenIn(await shop.mail(email, 'email_change_notice'))
    await post('/auth/email/change/confirm', { token: tokenIn(await shop.mail(evil, 'email_change_confirm')) })
    // the row alone takes the address: no person has to read the mail of this sign-up
    expect((await post('/auth/sign-up', { email, password: 'squatter battery' })).status).toBe(200)
    const taken = await post('/auth/email/undo', { token: undo })
    expect([taken.status, taken.json]).toEqual([200, { status: 'kept', email }])
  })
})

it('a change of the address whose mail is late is void once the owner of the account has reset the password', async () => {
  // pre-hijacking: the intruder signs up with the address of the victim
  const { id, email, token } = await shop.signUp()
  const evil = address()
  await settings({ mail: { transport: 'http', url: 'http://127.0.0.1:9/', from: 'shop@example.com' } })
  expect((await change(evil, token)).status).toBe(202)
  const waiting = () =>
    shop.sql<{ last_error: string | null }>('select last_error from auth.outbox where recipient = $1', [evil])
  await expect.poll(async () => (await waiting())[0]?.last_error ?? null, { timeout: 15_000 }).not.toBeNull()
  await settings({})
  await post('/auth/password/forgot', { email })
  const reset = tokenIn(await shop.mail(email, 'reset_password'))
  expect((await post('/auth/password/reset', { token: reset, password: 'the owner has it' })).status).toBe(200)
  // the intruder's mail comes at its next attempt, up to two days later, with a link that is made then
  await shop.sql('update auth.outbox set next_attempt_at = now() where recipient = $1 and status = $2', [
    evil,
    'queued',
  ])
  await shop.call('/cdn-cgi/stack/cron', {
    json: { name: 'Delivery.deliverDue' },
    headers: { apikey: shop.stack.record.service_role_key },
  })
  const late = (await shop.mails(evil))[0]
  if (late) await post('/auth/email/change/confirm', { token: tokenIn(late) })
  const [row] = await shop.sql<{ email: string }>('select email from auth.users where id = $1', [id])
  expect(row!.email).toBe(email)
})

it('who has made an account adds no way in to it before its address has proved itself', async () => {
  const { email, token } = await shop.signUp()
  const settled = { enabled: true }
  const headers = { apikey: shop.stack.record.service_role_key }
  expect((await shop.call('/v1/management/auth/providers/phone', { json: settled, headers })).status).toBe(200)
  const ways = () =>
    Promise.all([
      post('/auth/passkeys/enrol', {}, token),
      post('/auth/phone/change', { phone: '+4915112345678' }, token),
      post('/auth/identities/github/start', link, token),
    ])
  expect((await ways()).map(({ json }) => json.error)).toEqual(Array(3).fill('email_not_confirmed'))
  await post('/auth/email/confirm', { token: tokenIn(await shop.mail(email, 'confirm_email')) })
  expect((await ways()).map(({ json }) => json.error)).not.toContain('email_not_confirmed')
})

/** What begins the linking of an identity. */
const link = {
  client_key: 'web',
  redirect_to: 'https://shop.example/',
  code_challenge: 'x'.repeat(43),
  code_challenge_method: 'S256',
}

it('a stranger who signs up first has no way in after the owner of the address has signed up', async () => {
  await settings({ confirm_email_required: true })
  const email = address()
  await post('/auth/sign-up', { email, password: 'the stranger has it' })
  const first = tokenIn(await shop.mail(email, 'confirm_email'))
  await post('/auth/sign-up', { email, password: 'the owner has it' })
  const choose = tokenIn(await shop.mail(email, 'reset_password'))
  expect((await post('/auth/email/confirm', { token: first })).json.error).toBe('invalid_token')
  expect((await post('/auth/sign-in/password', { email, password: 'the stranger has it' })).status).toBe(401)
  expect((await post('/auth/password/reset', { token: choose, password: 'the owner has it' })).status).toBe(200)
  expect((await post('/auth/sign-in/password', { email, password: 'the stranger has it' })).status).toBe(401)
  expect((await post('/auth/sign-in/password', { email, password: 'the owner has it' })).status).toBe(200)
})

it('a stranger fills no mailbox with notices of an account that they made with its address', async () => {
  const { email } = await shop.signUp()
  const signIn = (headers: Record<string, string>) =>
    shop.call('/auth/sign-in/password', { json: { email, password }, headers })
  for (let count = 0; count < 9; count++) {
    const headers = { 'user-agent': `www.prize-${count}.example/1.0`, 'cf-connecting-ip': '203.0.113.77' }
    expect((await signIn(headers)).status).toBe(200)
  }
  expect(await shop.sql(`select from auth.outbox where recipient = $1 and template = 'new_sign_in'`, [email])).toEqual(
    [],
  )
  await post('/auth/email/confirm', { token: tokenIn(await shop.mail(email, 'confirm_email')) })
  await signIn({ 'user-agent': 'www.prize-of-all.example/1.0' })
  expect((await shop.mail(email, 'new_sign_in')).text).not.toContain('prize')
})

it('an address gets so many mails a day, whatever causes them', async () => {
  await settings({ rate_limits: { mail_per_recipient_daily: { attempts: 2, seconds: 86_400 } } })
  const { email } = await known()
  for (let count = 0; count < 3; count++) await post('/auth/password/forgot', { email })
  const statuses = () =>
    shop.sql<{ status: string }>('select status from auth.outbox where recipient = $1 order by id', [email])
  await expect
    .poll(async () => (await statuses()).map(({ status }) => status))
    .toEqual(['sent', 'sent', 'dropped', 'dropped'])
})
