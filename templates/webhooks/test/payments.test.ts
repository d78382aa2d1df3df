import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import { it } from 'node:test'
import { stack } from './stack.ts'

/** Sends a delivery as the provider would. The secret is that of `.dev.vars`. */
function deliver(event: object, secret = 'local-payments-secret'): Promise<Response> {
  const body = JSON.stringify(event)
  const time = Math.floor(Date.now() / 1000)
  const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
  return fetch(`${stack.base_url}/webhooks/payments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-payments-signature': `t=${time},v1=${signature}` },
    body,
  })
}
const payment = () => ({ type: 'payment.succeeded', data: { reference: randomUUID(), amount_cents: 1250 } })

it('a signed delivery is handled, and a repeated one takes effect once', async () => {
  const event = payment()
  for (const response of [await deliver(event), await deliver(event)]) {
    assert.deepEqual([response.status, await response.json()], [200, { ok: true, handled: true }])
  }
})

it('a delivery that another secret signed is refused', async () => {
  assert.equal((await deliver(payment(), 'another secret')).status, 401)
})
