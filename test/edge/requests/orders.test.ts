/** The example from end to end: two users, staff, a manager and a payment (contract 3 to 7). */
import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { useStack } from '../../support/stack.ts'

const shop = useStack('examples/orders')

const order = { sku: 'tea-sencha', quantity: 2 }

/** @returns the body of an error without its request id (contract 6.1). */
function envelope(error: string, error_description: string, status: number) {
  return { error, error_description, status, request_id: expect.stringMatching(/^req_[0-9A-HJKMNP-TV-Z]{26}$/) }
}

describe('row-level security', () => {
  it('two users cannot see each other’s orders', async () => {
    const [ada, bob] = [await shop.signUp(), await shop.signUp()]
    const placed = await shop.call('/orders', { token: ada.token, json: order })
    expect(placed.status).toBe(201)
    // The values match the example's type: an identity column is text, an integer a number, and a time an RFC 3339 text.
    expect(placed.json).toEqual({
      id: expect.stringMatching(/^[1-9][0-9]*$/),
      owner: ada.id,
      sku: 'tea-sencha',
      quantity: 2,
      total_cents: 2500,
      status: 'open',
      created_at: new Date(placed.json.created_at).toISOString(),
    })
    expect((await shop.call('/orders', { token: ada.token })).json).toEqual([placed.json])
    expect((await shop.call('/orders', { token: bob.token })).json).toEqual([])
    expect((await shop.call(`/orders/${placed.json.id}`, { token: ada.token })).json).toEqual(placed.json)
    expect((await shop.call(`/orders/${placed.json.id}`, { token: bob.token })).status).toBe(404)
  })
})

describe('5.5 a view with security_invoker', () => {
  it('shows each caller their own rows, and staff all of them', async () => {
    const [ada, bob, staff] = [await shop.signUp(), await shop.signUp(), await shop.signUp()]
    const summary = async (token: string) => (await shop.call('/orders/summary', { token })).json
    for (const quantity of [1, 3]) await shop.call('/orders', { token: ada.token, json: { ...order, quantity } })
    expect(await summary(ada.token)).toEqual([{ status: 'open', orders: 2, total_cents: 5_000 }])
    expect(await summary(bob.token)).toEqual([])
    await shop.role('PUT', staff.id, 'staff')
    const [open] = await shop.sql<{ count: number }>(`select count(*)::int from orders where status = 'open'`)
    const seen = (await summary(staff.token)).find(({ status }: { status: string }) => status === 'open')
    expect(seen.orders).toBe(open!.count)
  })
})

describe('4.1, 4.2 gates', () => {
  it('a required route answers 401 without a token, and the same for a token that is not valid', async () => {
    const { token } = await shop.signUp()
    const bodies = new Set<string>()
    for (const bad of [undefined, 'nonsense', `${token}x`, token.slice(0, -4), 'a.b.c']) {
      const answer = await shop.call('/orders', bad === undefined ? {} : { token: bad })
      expect(answer.json).toEqual(envelope('unauthorized', 'a valid access token is required', 401))
      expect(answer.headers.get('x-request-id')).toBe(answer.json.request_id)
      expect(answer.headers.get('cache-control')).toBe('no-store')
      bodies.add(answer.text.replace(answer.json.request_id, ''))
    }
    expect(bodies.size).toBe(1)
  })

  it('a role granted is in force on the next request with the same token, and revoked likewise', async () => {
    const { id, token } = await shop.signUp()
    const listing = () => shop.call('/staff/orders', { token })
    const refusal = envelope('forbidden', 'this route requires the role "staff"', 403)
    expect((await listing()).json).toEqual(refusal)
    expect((await shop.role('PUT', id, 'staff')).status).toBe(204)
    expect((await listing()).status).toBe(200)
    expect((await shop.role('PUT', id, 'staff')).status).toBe(204)
    expect(await shop.sql('select role from auth.user_roles where user_id = $1 order by role', [id])).toEqual([
      { role: 'customer' },
      { role: 'staff' },
    ])
    expect((await shop.role('DELETE', id, 'staff')).status).toBe(204)
    expect((await listing()).json).toEqual(refusal)
  })

  it('staff see every order, by the policy and not by another query', async () => {
    const [customer, staff] = [await shop.signUp(), await shop.signUp()]
    const { json: placed } = await shop.call('/orders', { token: customer.token, json: order })
    await shop.role('PUT', staff.id, 'staff')
    const { json: seen } = await shop.call('/staff/orders', { token: staff.token })
    expect(seen).toContainEqual(placed)
  })

  it('4.4 a refund asks for a permission, which `orders.*` gives and `orders.read` does not', async () => {
    const [customer, staff, manager] = [await shop.signUp(), await shop.signUp(), await shop.signUp()]
    const { json: placed } = await shop.call('/orders', { token: customer.token, json: order })
    await shop.sql(`update orders set status = 'paid' where id = $1`, [placed.id])
    const refund = (token: string) => shop.call(`/staff/orders/${placed.id}/refund`, { method: 'POST', token })
    await shop.role('PUT', staff.id, 'staff')
    expect((await refund(staff.token)).json).toEqual(
      envelope('forbidden', 'this route requires the permission "orders.refund"', 403),
    )
    await shop.role('PUT', manager.id, 'manager')
    expect((await refund(manager.token)).json).toMatchObject({ id: placed.id, status: 'refunded' })
    expect((await refund(manager.token)).status).toBe(409)
  })

  it('a route for confirmed addresses refuses until the next token says so', async () => {
    const { id, token, refreshToken } = await shop.signUp()
    const { json: placed } = await shop.call('/orders', { token, json: order })
    const invoice = (bearer: string) => shop.call(`/orders/${placed.id}/invoice`, { token: bearer })
    const refusal = envelope('email_not_verified', 'a verified email address is required', 403)
    expect((await invoice(token)).json).toEqual(refusal)
    await shop.sql('update auth.users set email_confirmed_at = now() where id = $1', [id])
    expect((await invoice(token)).json).toEqual(refusal)
    const { json: renewed } = await shop.call('/auth/token/refresh', { json: { refresh_token: refreshToken } })
    expect((await invoice(renewed.access_token)).json).toMatchObject({ order: placed.id, status: 'open' })
  })

  it('a public route greets whoever is signed in, and takes an unusable token for nobody', async () => {
    const { email, token } = await shop.signUp()
    expect((await shop.call('/catalogue')).json).toMatchObject({ greeting: 'Welcome' })
    expect((await shop.call('/catalogue', { token: 'nonsense' })).json).toMatchObject({ greeting: 'Welcome' })
    expect((await shop.call('/catalogue', { token })).json).toMatchObject({ greeting: `Welcome back, ${email}` })
  })

  it('an apikey header says nothing about the caller', async () => {
    const { publishable_key, service_role_key } = shop.stack.record
    for (const apikey of [publishable_key, service_role_key]) {
      expect((await shop.call('/orders', { headers: { apikey } })).status).toBe(401)
    }
  })
})

describe('3.5 a session that was ended', () => {
  it('is nobody from the next request on, whatever the token says', async () => {
    const { id, token } = await shop.signUp()
    expect((await shop.call('/orders', { token })).status).toBe(200)
    await shop.sql(`update auth.sessions set ended_at = now(), end_reason = 'revoked' where user_id = $1`, [id])
    expect((await shop.call('/orders', { token })).status).toBe(401) // refused at the first use of the database
    expect((await shop.call('/orders', { token, json: order })).status).toBe(401) // refused because User() is injected
    expect((await shop.call('/staff/orders', { token })).status).toBe(401) // refused because the rule names a role
    expect((await shop.call('/catalogue', { token })).json).toMatchObject({ greeting: 'Welcome' })
  })
})

describe('routing and bodies', () => {
  it('404 for what is not there, 405 with what is', async () => {
    const missing = await shop.call('/nowhere')
    expect(missing.json).toEqual(envelope('not_found', 'there is nothing at this address', 404))
    const wrong = await shop.call('/orders', { method: 'PATCH' })
    expect(wrong.status).toBe(405)
    expect(wrong.json.error).toBe('method_not_allowed')
    expect(wrong.headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'HEAD', 'OPTIONS', 'POST'])
  })

  it('HEAD is GET without a body; a trailing slash changes nothing', async () => {
    const head = await shop.call('/catalogue', { method: 'HEAD' })
    expect([head.status, head.text]).toEqual([200, ''])
    expect((await shop.call('/catalogue/')).status).toBe(200)
  })

  it('a body that is not JSON is 400, one of another type 415', async () => {
    const { token } = await shop.signUp()
    const send = (body: string, type: string) =>
      shop.call('/orders', { token, body, headers: { 'content-type': type } })
    expect((await send('{"sku":', 'application/json')).json).toMatchObject({ error: 'invalid_request', status: 400 })
    expect((await send('sku=tea', 'application/x-www-form-urlencoded')).json).toMatchObject({
      error: 'unsupported_media_type',
      status: 415,
    })
    expect((await send('{"sku":"tea-sencha","quantity":0}', 'application/json')).status).toBe(400)
    expect((await send('{"sku":"nothing","quantity":1}', 'application/json')).json.error).toBe('unknown_product')
  })
})

describe('the payments webhook', () => {
  const deliver = (body: string, secret = 'payments-secret', at = Math.floor(Date.now() / 1000)) => {
    const signature = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')
    return shop.call('/webhooks/payments', { body, headers: { 'x-payments-signature': `t=${at},v1=${signature}` } })
  }

  it('marks an order paid through $asService, which no user could', async () => {
    const { token } = await shop.signUp()
    const { json: placed } = await shop.call('/orders', { token, json: order })
    const answer = await deliver(JSON.stringify({ type: 'payment.succeeded', data: { order: placed.id } }))
    expect([answer.status, answer.text]).toEqual([200, '{"ok":true,"handled":true}'])
    expect((await shop.call(`/orders/${placed.id}`, { token })).json.status).toBe('paid')
  })

  it('answers 500 handler_failed when the handler throws, and tells the provider nothing else', async () => {
    const answer = await deliver(JSON.stringify({ type: 'payment.succeeded', data: { order: 'not a number' } }))
    expect(answer.json).toEqual(envelope('handler_failed', 'the handler for this event failed', 500))
  })
})
