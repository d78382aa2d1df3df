/** Deliveries of any length, signed as their senders sign them, in the bytes of a whole request. */
import { createHmac } from 'node:crypto'

export const providers = ['stripe', 'github'] as const
export type Provider = (typeof providers)[number]

export const secrets = { STRIPE_SECRET: 'whsec_of_the_benchmark', GITHUB_SECRET: 'a secret of the benchmark' }

export interface Delivery {
  head: Buffer
  body: Buffer
}

const bodies = new Map<string, Buffer>()

/** Signs a delivery for the present time. @param length the length of the body in bytes, at least 512. */
export function delivery(provider: Provider, length: number): Delivery {
  const body = bodies.get(`${provider} ${length}`) ?? jsonOf(provider, length)
  bodies.set(`${provider} ${length}`, body)
  const headers = provider === 'stripe' ? signedByStripe(body) : signedByGithub(body)
  const lines = [
    `POST /webhooks/${provider} HTTP/1.1`,
    'host: 127.0.0.1',
    'content-type: application/json',
    `content-length: ${body.length}`,
    ...headers,
  ]
  return { head: Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body }
}

function signedByStripe(body: Buffer): string[] {
  const time = Math.floor(Date.now() / 1000)
  const signature = createHmac('sha256', secrets.STRIPE_SECRET).update(`${time}.`).update(body).digest('hex')
  return [`stripe-signature: t=${time},v1=${signature}`]
}

function signedByGithub(body: Buffer): string[] {
  const signature = createHmac('sha256', secrets.GITHUB_SECRET).update(body).digest('hex')
  return ['x-github-event: issues', `x-hub-signature-256: sha256=${signature}`]
}

/** Makes a body of many small objects, as real ones are. A single long text would cost a parser no time. */
function jsonOf(provider: Provider, length: number): Buffer {
  const event = provider === 'stripe' ? { type: 'invoice.paid' } : { action: 'opened' }
  const payload = { id: 'evt_1', ...event, created: 1_790_000_000, livemode: true, lines: [] as object[], note: '' }
  let rest = length - JSON.stringify(payload).length
  for (let number = 0; ; number++) {
    const line = lineOf(number)
    const taken = JSON.stringify(line).length + 1
    if (taken > rest) break
    payload.lines.push(line)
    rest -= taken
  }
  payload.note = 'x'.repeat(rest + (payload.lines.length > 0 ? 1 : 0)) // the first line has no comma before it
  const body = Buffer.from(JSON.stringify(payload))
  if (body.length !== length) throw new Error(`a body of ${body.length} bytes where ${length} were asked for`)
  return body
}

function lineOf(number: number) {
  return {
    id: `il_${String(number).padStart(14, '0')}`,
    amount: 100 + (number % 900),
    currency: 'eur',
    description: `Tea, number ${number}, in a tin of 250 g`,
    period: { start: 1_789_000_000 + number, end: 1_790_000_000 + number },
    proration: number % 7 === 0,
    tax: number % 3 === 0 ? null : { rate: 0.07, inclusive: true },
  }
}
