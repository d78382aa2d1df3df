/** 7.3 Standard Webhooks. */
import { describe, expect, it } from 'vitest'
import { type Arrival, type Claim } from '../../../runtime/webhooks/claim.ts'
import { secretKey } from '../../../runtime/webhooks/secret.ts'
import { isStandardWebhooks, schemeOfBlock, standardWebhooks } from '../../../src/wire/webhook-schemes.ts'
import { bytes, readClaim, standard } from '../../support/claims.ts'

describe('7.3 Standard Webhooks', () => {
  const body = bytes('{"test": 2432232314}')
  const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const published = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
  const arrival = (signature: string, now = 1_614_265_330): Arrival => ({
    headers: new Headers({ 'webhook-id': id, 'webhook-timestamp': '1614265330', 'webhook-signature': signature }),
    urls: [],
    now,
  })

  it.each([
    ['alone', published],
    ['after others', `v1a,AAAA v1,${'A'.repeat(43)}= ${published}`],
    ['before others', `${published} v1a,AAAA`],
  ])('the published known answer, in a list in any order: %s', async (_where, signature) => {
    const claim = readClaim(standard.proof, arrival(signature)) as Claim
    expect(await claim.holds((await secretKey(standard.proof, secret)) as CryptoKey, body)).toBe(true)
    expect(claim.id).toBe(id)
  })

  it.each(['v1a,AAAA', published.replace('v1,', 'v2,')])('only other versions: %s', (signature) => {
    expect(readClaim(standard.proof, arrival(signature))).toMatchObject({ reason: 'unsupported_scheme' })
  })

  it('an id with a dot could be cut elsewhere', () => {
    const { headers, ...rest } = arrival(published)
    headers.set('webhook-id', `${id}.1`)
    expect(readClaim(standard.proof, { headers, ...rest })).toMatchObject({ reason: 'bad_encoding' })
  })

  describe('the prefix svix- in place of webhook-', () => {
    const sent = (names: Record<string, string>) => {
      const values: Record<string, string> = { id, timestamp: '1614265330', signature: published }
      const headers = new Headers(Object.entries(names).map(([name, prefix]) => [prefix + name, values[name]!]))
      return readClaim(standard.proof, { headers, urls: [], now: 1_614_265_330 })
    }

    it('all three headers are read so, and the id is the signed one', async () => {
      const claim = sent({ id: 'svix-', timestamp: 'svix-', signature: 'svix-' }) as Claim
      expect(await claim.holds((await secretKey(standard.proof, secret)) as CryptoKey, body)).toBe(true)
      expect(claim.id).toBe(id)
    })

    it.each([
      { id: 'webhook-', timestamp: 'svix-', signature: 'svix-' },
      { id: 'svix-', timestamp: 'webhook-', signature: 'svix-' },
      { id: 'svix-', timestamp: 'svix-', signature: 'webhook-' },
      { id: 'webhook-', timestamp: 'webhook-', signature: 'svix-' },
    ])('never a mix of both: %j', (names) => {
      expect(sent(names)).toMatchObject({ reason: 'missing_header' })
    })

    it('of two whole sets, that of the standard counts', async () => {
      const { headers } = arrival(published)
      for (const name of ['id', 'timestamp', 'signature']) headers.set(`svix-${name}`, 'another')
      const claim = readClaim(standard.proof, { headers, urls: [], now: 1_614_265_330 }) as Claim
      expect(await claim.holds((await secretKey(standard.proof, secret)) as CryptoKey, body)).toBe(true)
    })

    it('not in another block', () => {
      const block = schemeOfBlock({ ...standardWebhooks, signs: '{ts}.{body}' })
      const headers = new Headers({ 'svix-signature': published, 'svix-timestamp': '1614265330' })
      expect(readClaim(block.proof, { headers, urls: [], now: 1_614_265_330 })).toMatchObject({
        reason: 'missing_header',
      })
    })
  })

  it('is that one block and no other', () => {
    expect(isStandardWebhooks({ ...standardWebhooks, header: 'Webhook-Signature' })).toBe(true)
    expect(isStandardWebhooks({ ...standardWebhooks, prefix: 'v1,' })).toBe(false)
    expect(isStandardWebhooks({ ...standardWebhooks, signs: '{id}.{body}' })).toBe(false)
  })
})
