/** Attacks on accounts over the running stack. Each test states what must hold. */
import { createHmac } from 'node:crypto'
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
    // nobody has to read the mail of this sign-up: the row alone takes the address
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

it('an intruder who has made the account adds no way in that outlives the password reset of the owner of the address', async () => {
  // pre-hijacking: the intruder signs up with the address of the victim, and adds a second factor of their own
  const { id, email, token } = await shop.signUp()
  const { json } = await post('/auth/mfa/totp/enrol', {}, token)
  const step = BigInt(Math.floor(Date.now() / 30_000))
  await post('/auth/mfa/totp/verify', { factor_id: json.factor_id, code: totp(json.secret, step) }, token)
  // the victim follows the mail that came unasked, then resets the password
  await post('/auth/email/confirm', { token: tokenIn(await shop.mail(email, 'confirm_email')) })
  await post('/auth/password/forgot', { email })
  const reset = tokenIn(await shop.mail(email, 'reset_password'))
  expect((await post('/auth/password/reset', { token: reset, password: 'the owner has it' })).status).toBe(200)
  const factors = await shop.sql('select from auth.mfa_factors where user_id = $1', [id])
  expect(factors).toHaveLength(0)
})

it('a stranger who signs up first has no way in after the owner of the address has signed up, confirmed and reset', async () => {
  await settings({ confirm_email_required: true })
  const email = address()
  await post('/auth/sign-up', { email, password: 'the stranger has it' })
  const mail = await shop.mail(email, 'confirm_email')
  // the owner signs up, gets the same answer, and follows the one link that is there
  await post('/auth/sign-up', { email, password: 'the owner has it' })
  await shop.mail(email, 'existing_account')
  await post('/auth/email/confirm', { token: tokenIn(mail) })
  const stranger = await post('/auth/sign-in/password', { email, password: 'the stranger has it' })
  expect(stranger.status).toBe(401)
})

it('a stranger fills no mailbox with notices of an account that they made with its address', async () => {
  const { email } = await shop.signUp()
  for (let count = 0; count < 9; count++) {
    const headers = { 'user-agent': `www.prize-${count}.example/1.0`, 'cf-connecting-ip': '203.0.113.77' }
    const { status } = await shop.call('/auth/sign-in/password', { json: { email, password }, headers })
    expect(status).toBe(200)
  }
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  const notices = (await shop.mails(email)).filter(({ template }) => template === 'new_sign_in')
  expect(notices.map(({ text }) => /Device: (\S+)/.exec(text)?.[1])).toEqual([])
})

/** RFC 6238 with SHA-1 and six digits. */
function totp(secret: string, step: bigint): string {
  const bits = [...secret.replace(/=+$/, '')].map((one) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(one).toString(2).padStart(5, '0'),
  )
  const key = Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(step)
  const mac = createHmac('sha1', key).update(counter).digest()
  const number = mac.readUInt32BE(mac[19]! & 15) & 0x7fffffff
  return String(number % 1_000_000).padStart(6, '0')
}
