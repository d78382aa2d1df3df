/** 7.4 the window of time in which a delivery is accepted. */
import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { secretKey } from '../../../runtime/webhooks/secret.ts'
import { bodyTimeFault, timestampFault } from '../../../runtime/webhooks/window.ts'
import { presets } from '../../../src/wire/webhook-schemes.ts'
import { bytes, claimed, now } from '../../support/claims.ts'

describe('7.4 the window', () => {
  it.each([
    [0, undefined],
    [-300, undefined],
    [300, undefined],
    [-301, 'stale_timestamp'],
    [301, 'future_timestamp'],
  ])('%i seconds', (offset, expected) => {
    expect(timestampFault(String(now + offset), now)?.reason).toBe(expected)
  })

  it.each([
    [-300_000, undefined],
    [-300_001, 'stale_timestamp'],
    [300_999, undefined],
    [301_000, 'future_timestamp'],
    [0.5, 'bad_encoding'],
    [Number.NaN, 'bad_encoding'],
  ])('%d milliseconds, in a body', (offset, expected) => {
    expect(bodyTimeFault(now * 1000 + offset, now)?.reason).toBe(expected)
  })

  it.each([undefined, null, String(now * 1000)])('%j in a body is no time', (value) => {
    expect(bodyTimeFault(value, now)?.reason).toBe('bad_encoding')
  })

  it('of a delivery that is refused for its time, the claim remains: only then can it be told whether it was genuine', async () => {
    const body = bytes('{}')
    const v1 = createHmac('sha256', 's')
      .update(`${now - 301}.{}`)
      .digest('hex')
    const stale = claimed(presets.stripe.proof, { 'stripe-signature': `t=${now - 301},v1=${v1}` })
    if (!('reason' in stale)) throw new Error('it was not refused')
    expect(stale.reason).toBe('stale_timestamp')
    expect(await stale.claim!.holds((await secretKey(presets.stripe.proof, 's')) as CryptoKey, body)).toBe(true)
    expect(await stale.claim!.holds((await secretKey(presets.stripe.proof, 't')) as CryptoKey, body)).toBe(false)
  })

  it('the half second in which exactly 300 passes is not lost to rounding', () => {
    expect(timestampFault(String(now - 300), now + 0.9)).toBeUndefined()
  })

  it.each(['', '1e9', '0x5', ' 1700000000', '1700000000.0', '-1', 'Infinity', '１７０００', '170000000000'])(
    'refuses %j',
    (text) => {
      expect(timestampFault(text, now)?.reason).toBe('bad_encoding')
    },
  )
})
