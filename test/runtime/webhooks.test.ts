/** 7.1, 7.4: claims in headers, the window, the signed bytes; as plain data. */
import { describe, expect, it } from 'vitest'
import { fromBase64, fromBase64Url, fromHex } from '../../runtime/bytes.ts'
import { presets } from '../../runtime/webhooks/presets.ts'
import { refuseTimestamp } from '../../runtime/webhooks/replay.ts'
import { signedBytes } from '../../runtime/webhooks/signed.ts'
import { isGenuine, readClaim } from '../../runtime/webhooks/verify.ts'
import { webhookProviders } from '../../src/wire/webhook-providers.ts'

const now = 1_700_000_000

describe('7.4 the window', () => {
  it.each([
    [0, undefined],
    [-300, undefined],
    [300, undefined],
    [-301, 'stale_timestamp'],
    [301, 'future_timestamp'],
  ])('%i seconds', (offset, expected) => {
    expect(refuseTimestamp(String(now + offset), now)).toBe(expected)
  })

  it('the half second in which exactly 300 passes is not lost to rounding', () => {
    expect(refuseTimestamp(String(now - 300), now + 0.9)).toBeUndefined()
  })

  it.each(['', '1e9', '0x5', ' 1700000000', '1700000000.0', '-1', 'Infinity', '１７０００', '170000000000'])(
    'refuses %j',
    (text) => {
      expect(refuseTimestamp(text, now)).toBe('bad_encoding')
    },
  )
})

describe('the signed bytes', () => {
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1')
  const body = Buffer.from('b{ts}$&{body}')

  it.each([
    ['{body}', 'b{ts}$&{body}'],
    ['{ts}.{body}', '7.b{ts}$&{body}'],
    ['$&{body}{body}', '$&b{ts}$&{body}b{ts}$&{body}'],
    ['v0:{ts}:{body}:{id}', 'v0:7:b{ts}$&{body}:{id}'],
  ])('%s', (signs, expected) => {
    expect(text(signedBytes(signs, '7', body))).toBe(expected)
  })
})

describe('encodings have one spelling', () => {
  it.each(['0', '0G', 'AB', '0x', ' 00'])('hex refuses %j', (wrong) => {
    expect(fromHex(wrong)).toBeUndefined()
  })
  it.each(['A', 'AA', 'AAA', 'AB==', 'AA==\n', 'A-__', 'AAAA='])('base64 refuses %j', (wrong) => {
    expect(fromBase64(wrong)).toBeUndefined()
  })
  it.each(['A', 'AB', 'AA==', 'AA+/', ' AA'])('base64url refuses %j', (wrong) => {
    expect(fromBase64Url(wrong)).toBeUndefined()
  })
  it('and accept it', () => {
    expect([...fromHex('00ff')!]).toEqual([0, 255])
    expect([...fromBase64('AP8=')!]).toEqual([0, 255])
    expect([...fromBase64Url('AP8')!]).toEqual([0, 255])
  })
})

describe('what the headers claim', () => {
  const claim = (headers: Record<string, string>) => readClaim(presets.stripe, new Headers(headers), now)
  const v1 = 'ab'.repeat(32)

  it.each([
    [{}, 'missing_header'],
    [{ 'stripe-signature': '' }, 'missing_header'],
    [{ 'stripe-signature': `v1=${v1}` }, 'missing_header'],
    [{ 'stripe-signature': `t=${now}` }, 'missing_header'],
    [{ 'stripe-signature': `t=${now},v1=zz` }, 'bad_encoding'],
    [{ 'stripe-signature': `t=${now},v1=${v1}00` }, 'bad_encoding'],
    [{ 'stripe-signature': `t=${now},t=${now},v1=${v1}` }, 'bad_encoding'],
    [{ 'stripe-signature': `t=${now}${`,v1=${v1}`.repeat(9)}` }, 'bad_encoding'],
    [{ 'stripe-signature': `t= ${now},v1=${v1}` }, 'bad_encoding'],
    [{ 'stripe-signature': `t=${now - 301},v1=${v1}` }, 'stale_timestamp'],
    [{ 'stripe-signature': `t=${now + 301},v1=${v1}` }, 'future_timestamp'],
  ])('%j', (headers, reason) => {
    expect(claim(headers)).toBe(reason)
  })

  it('blanks after a comma are no difference; a broken signature beside a sound one is passed over', () => {
    expect(claim({ 'stripe-signature': `t=${now}, v1=zz , v1=${v1}` })).toMatchObject({ timestamp: String(now) })
  })
})

it('every provider of the closed list has its row, and no row is without a provider', () => {
  expect(Object.keys(presets).sort()).toEqual([...webhookProviders].sort())
})

it('a comparison is whole: a signature of the right bytes but one is refused', async () => {
  const body = Buffer.from('x')
  const key = await crypto.subtle.importKey('raw', Buffer.from('s'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const signature = new Uint8Array(await crypto.subtle.sign('HMAC', key, body))
  expect(await isGenuine(presets.github, { timestamp: '', signatures: [signature] }, 's', body)).toBe(true)
  for (const index of [0, 15, 31]) {
    const wrong = Uint8Array.from(signature)
    wrong[index]! ^= 1
    expect(await isGenuine(presets.github, { timestamp: '', signatures: [wrong] }, 's', body)).toBe(false)
  }
})
