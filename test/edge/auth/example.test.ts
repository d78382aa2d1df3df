/** The example's people: a guest who becomes a customer, a confirmed address, a forgotten password. With `fetch` alone. */
import { expect, it } from 'vitest'
import { useStack } from '../../support/stack.ts'

const shop = useStack('examples/orders')

const password = 'correct horse battery'
const tokenIn = ({ text }: { text: string }) => /token=([A-Za-z0-9_-]{43})/.exec(text)![1]!
const put = (sku: string, token?: string) =>
  shop.call(`/basket/${sku}`, { method: 'PUT', json: { quantity: 2 }, ...(token ? { token } : {}) })

it('a guest’s basket stays theirs when they sign up, and becomes their orders', async () => {
  const guest = (await shop.call('/auth/anonymous', { method: 'POST' })).json.access_token
  const other = (await shop.call('/auth/anonymous', { method: 'POST' })).json.access_token
  expect((await put('tea-assam')).status).toBe(401)
  expect((await put('tea-oolong', guest)).json.error).toBe('unknown_product')
  expect([(await put('tea-assam', guest)).status, (await put('pot-iron', guest)).status]).toEqual([204, 204])
  expect((await shop.call('/basket', { token: other })).json).toEqual([])
  expect((await shop.call('/basket/order', { method: 'POST', token: guest })).status).toBe(401)
  const email = `${crypto.randomUUID()}@example.com`
  const { json } = await shop.call('/auth/upgrade', { json: { email, password }, token: guest })
  const token = json.access_token
  const placed = await shop.call('/basket/order', { method: 'POST', token })
  expect([placed.status, placed.json.map(({ sku }: { sku: string }) => sku).sort()]).toEqual([
    201,
    ['pot-iron', 'tea-assam'],
  ])
  expect((await shop.call('/basket', { token })).json).toEqual([])
  expect((await shop.call('/orders', { token })).json).toHaveLength(2)
})

it('an invoice goes to a confirmed address: by the next token, not by the old one', async () => {
  const { email, token, refreshToken } = await shop.signUp()
  const { json: order } = await shop.call('/orders', { json: { sku: 'tea-sencha', quantity: 1 }, token })
  expect((await shop.call(`/orders/${order.id}/invoice`, { token })).json.error).toBe('email_not_verified')
  await shop.call('/auth/email/confirm', { json: { token: tokenIn(await shop.mail(email)) } })
  expect((await shop.call(`/orders/${order.id}/invoice`, { token })).status).toBe(403)
  const refreshed = await shop.call('/auth/token/refresh', { json: { refresh_token: refreshToken } })
  const invoice = await shop.call(`/orders/${order.id}/invoice`, { token: refreshed.json.access_token })
  expect([invoice.status, invoice.json.to]).toEqual([200, email])
})

it('a customer who forgot the password chooses another one, and sees the same orders', async () => {
  const { email, token } = await shop.signUp()
  await shop.call('/orders', { json: { sku: 'tea-sencha', quantity: 1 }, token })
  await shop.call('/auth/password/forgot', { json: { email } })
  const reset = { token: tokenIn(await shop.mail(email, 'reset_password')), password: 'another horse battery' }
  expect((await shop.call('/auth/password/reset', { json: reset })).status).toBe(200)
  const signedIn = await shop.call('/auth/sign-in/password', { json: { email, password: reset.password } })
  expect((await shop.call('/orders', { token: signedIn.json.access_token })).json).toHaveLength(1)
})
