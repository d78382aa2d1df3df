/** Claims in the headers of a delivery, and the comparison of every byte of a signature. */
import { createHmac, generateKeyPairSync, sign as signWith } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { secretFault } from '../../../runtime/webhooks/secret.ts'
import { presets, proofUnder, type WebhookProvider, webhookProviders } from '../../../src/wire/webhook-schemes.ts'
import { bytes, holds, now, reasonOf } from '../../support/claims.ts'
import { titled } from '../../support/titles.ts'

describe('what the headers claim', () => {
  const { proof } = presets.stripe
  const v1 = 'ab'.repeat(32)

  it.each(
    titled([
      [{}, 'missing_header'],
      [{ 'stripe-signature': '' }, 'missing_header'],
      [{ 'stripe-signature': `v1=${v1}` }, 'missing_header'],
      [{ 'stripe-signature': `t=${now}` }, 'missing_header'],
      [{ 'stripe-signature': `t=${now},v0=${v1}` }, 'unsupported_scheme'],
      [{ 'stripe-signature': `t=${now},v1=zz` }, 'bad_encoding'],
      [{ 'stripe-signature': `t=${now},v1=${v1}00` }, 'bad_encoding'],
      [{ 'stripe-signature': `t=${now},t=${now},v1=${v1}` }, 'bad_encoding'],
      [{ 'stripe-signature': `t=${now}${`,v1=${v1}`.repeat(9)}` }, 'bad_encoding'],
      [{ 'stripe-signature': `t= ${now},v1=${v1}` }, 'bad_encoding'],
      [{ 'stripe-signature': `t=${now - 301},v1=${v1}` }, 'stale_timestamp'],
      [{ 'stripe-signature': `t=${now + 301},v1=${v1}` }, 'future_timestamp'],
    ]),
  )('%s', (_title, headers, reason) => {
    expect(reasonOf(proof, headers as Record<string, string>)).toBe(reason)
  })

  it('blanks after a comma are no difference; a broken signature beside a sound one is passed over', () => {
    expect(reasonOf(proof, { 'stripe-signature': `t=${now}, v1=zz , v1=${v1}` })).toBe('claimed')
  })

  it.each(
    titled([
      ['github', { 'x-hub-signature-256': `sha1=${v1}` }, 'unsupported_scheme'],
      ['github', { 'x-hub-signature-256': v1 }, 'bad_encoding'],
      ['slack', { 'x-slack-signature': `v1=${v1}`, 'x-slack-request-timestamp': String(now) }, 'unsupported_scheme'],
      ['slack', { 'x-slack-signature': `v0=${v1}` }, 'missing_header'],
      ['realtime', { authorization: `Basic ${v1}` }, 'unsupported_scheme'],
      ['realtime', { authorization: `bearer ${v1}` }, 'unsupported_scheme'],
      ['realtime', { authorization: `Bearer ${v1}` }, 'claimed'],
      ['livekit', { authorization: `Bearer ${v1}` }, 'bad_encoding'],
      ['discord', { 'x-signature-ed25519': v1, 'x-signature-timestamp': String(now) }, 'bad_encoding'],
      ['discord', { 'x-signature-ed25519': v1 + v1 }, 'missing_header'],
      ['discord', { 'x-signature-ed25519': v1 + v1, 'x-signature-timestamp': String(now) }, 'claimed'],
      ['twilio', { 'x-twilio-signature': 'x' }, 'bad_encoding'],
      ['emailservice', { 'x-any-email-event-webhook-timestamp': String(now) }, 'missing_header'],
      [
        'emailservice',
        { 'x-a-email-event-webhook-signature': 'MAYC', 'x-b-email-event-webhook-signature': 'MAYC' },
        'bad_encoding',
      ],
    ] satisfies [WebhookProvider, Record<string, string>, string][]),
  )('%s', (_title, provider, headers, reason) => {
    expect(reasonOf(presets[provider].proof, headers as Record<string, string>, ['https://x.example/'])).toBe(reason)
  })
})

describe('a comparison is whole', () => {
  const body = bytes('x')

  it('a signature of the right bytes but one is refused, alone or among several', async () => {
    const hex = createHmac('sha256', 's').update(`${now}.x`).digest('hex')
    const sent = (...signatures: string[]) =>
      holds(presets.stripe.proof, 's', { 'stripe-signature': `t=${now},v1=${signatures.join(',v1=')}` }, body)
    expect(await sent(hex)).toBe(true)
    for (const index of [0, 30, 63]) {
      const wrong = hex.slice(0, index) + (hex[index] === '0' ? '1' : '0') + hex.slice(index + 1)
      expect([await sent(wrong), await sent(wrong, wrong), await sent(wrong, hex)]).toEqual([false, false, true])
    }
  })

  it('a public key verifies what its owner signed, and nothing else', async () => {
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const secret = pair.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
    const signature = signWith('sha256', Buffer.from(`${now}x`), pair.privateKey).toString('base64')
    const headers = {
      'x-twilio-email-event-webhook-signature': signature,
      'x-twilio-email-event-webhook-timestamp': String(now),
    }
    expect(await holds(presets.sendgrid.proof, secret, headers, body)).toBe(true)
    expect(await holds(presets.emailservice.proof, secret, headers, body)).toBe(true)
    expect(await holds(presets.sendgrid.proof, secret, headers, bytes('y'))).toBe(false)
    const before = now - 301
    const late = {
      'x-twilio-email-event-webhook-signature': signWith('sha256', Buffer.from(`${before}x`), pair.privateKey).toString(
        'base64',
      ),
      'x-twilio-email-event-webhook-timestamp': String(before),
    }
    expect(await holds(presets.sendgrid.proof, secret, late, body)).toBe('stale_timestamp')
  })
})

describe('gitlab', () => {
  const { proof } = presets.gitlab
  const body = bytes('{"object_kind":"push"}')
  const sent = (token: string, secret = 'a secret token') => holds(proof, secret, { 'x-gitlab-token': token }, body)

  it.each([
    ['a secret token', true],
    ['a secret toke', false],
    ['a secret token ', true], // White space around the value of a header is no part of it.
    ['a secret tokem', false],
    ['A secret token', false],
    ['a secret token, a secret token', false],
    ['', 'missing_header'],
    ['x'.repeat(8193), 'bad_encoding'],
  ])('the token is the whole secret: %.30s', async (token, expected) => {
    expect(await sent(token)).toBe(expected)
  })

  it('an entry that begins with whsec_ is a signing token, and the plain header proves nothing', () => {
    expect(proofUnder(proof, 'whsec_c2VjcmV0')).toMatchObject({ by: 'hmac', header: 'webhook-signature' })
    expect(proofUnder(proof, 'a secret token')).toBe(proof)
    expect(secretFault(proof, 'whsec_no base64')).toEqual(expect.any(String))
    expect(secretFault(proof, 'a secret token')).toBeUndefined()
  })
})

it('every provider of the closed list has its row, and no row is without a provider', () => {
  expect(Object.keys(presets).sort()).toEqual([...webhookProviders].sort())
})
