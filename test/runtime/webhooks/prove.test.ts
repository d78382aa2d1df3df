/** How much of a body is read before its sender is known (contract 7.8), and under which secrets it is tried (7.5). */
import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Call } from '../../../runtime/call.ts'
import type { Webhook } from '../../../runtime/table.ts'
import type { Delivery } from '../../../runtime/webhooks/delivery.ts'
import { prove } from '../../../runtime/webhooks/prove.ts'
import { presets } from '../../../src/wire/webhook-schemes.ts'
import { bytes, readers } from '../../support/claims.ts'

const mebibyte = 1_048_576
const body = bytes('a=1')

/** @returns what a delivery proves, and the limits with which its body was read. */
async function proving(webhook: Partial<Webhook>, headers: Record<string, string>, env: Record<string, string>) {
  const limits: (number | undefined)[] = []
  const request = new Request('https://shop.example/webhooks/sms', { method: 'POST', headers })
  const call = { request, env, path: '/webhooks/sms', search: '' } as unknown as Call
  const delivery = {
    webhook: { name: 'sms', secret: { env: 'SECRET', previous: 'SECRET_BEFORE' }, ...webhook },
    call,
    outcome: { outcome: 'refused' },
    async hold(most: number | undefined) {
      limits.push(most)
      return body
    },
  } as unknown as Delivery
  const proven = await prove(delivery, readers)
  return { limits, verdict: 'reason' in proven ? proven.reason : proven.entry, body: delivery.outcome.body }
}

const twilio = (secret: string) => ({
  'x-twilio-signature': createHmac('sha1', secret)
    .update('https://shop.example/webhooks/sms')
    .update('a1')
    .digest('base64'),
})
const github = (secret: string) => ({
  'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  'x-github-event': 'push',
  'x-github-delivery': 'd1',
})

describe('7.8 a body of an unknown sender', () => {
  it('is 4 MiB at most where it is sorted as a form, and as long as any request’s where it is not', async () => {
    const sorted = await proving({ scheme: presets.twilio }, twilio('secret'), { SECRET: 'secret' })
    expect(sorted).toEqual({ limits: [4 * mebibyte], verdict: 'SECRET', body })
    const plain = await proving({ scheme: presets.github }, github('secret'), { SECRET: 'secret' })
    expect(plain).toEqual({ limits: [undefined], verdict: 'SECRET', body })
  })

  it('is as long as the webhook says, where it says so', async () => {
    for (const maxBodyBytes of [10, 8 * mebibyte])
      expect(
        (await proving({ scheme: presets.twilio, maxBodyBytes }, twilio('secret'), { SECRET: 'secret' })).limits,
      ).toEqual([maxBodyBytes])
  })

  it('is not read where the headers prove nothing', async () => {
    const { limits, verdict, body: kept } = await proving({ scheme: presets.github }, {}, { SECRET: 'secret' })
    expect([limits, verdict, kept]).toEqual([[], 'missing_header', undefined])
  })
})

describe('7.5 the secrets', () => {
  const env = { SECRET: 'new', SECRET_BEFORE: 'old' }

  it('are the current one and, during a rotation, the previous one', async () => {
    for (const [secret, verdict] of [
      ['new', 'SECRET'],
      ['old', 'SECRET_BEFORE'],
      ['other', 'bad_signature'],
    ] as const)
      expect((await proving({ scheme: presets.github }, github(secret), env)).verdict).toBe(verdict)
    expect((await proving({ scheme: presets.github }, github('old'), { SECRET: 'new' })).verdict).toBe('bad_signature')
  })

  it('need a current one that is set', async () => {
    const { verdict, limits } = await proving({ scheme: presets.github }, github('old'), { SECRET_BEFORE: 'old' })
    expect([verdict, limits]).toEqual(['unset_secret', []])
  })
})
