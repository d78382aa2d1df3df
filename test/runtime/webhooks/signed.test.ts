/** The bytes that a signature covers, and how signatures and hashes are written. */
import { describe, expect, it } from 'vitest'
import { fromBase64, fromBase64Url, fromHex, toHex } from '../../../runtime/bytes.ts'
import { fromDer } from '../../../runtime/webhooks/proofs/public-key.ts'
import { signedBytes } from '../../../runtime/webhooks/signed.ts'
import { bytes } from '../../support/claims.ts'

describe('the signed bytes', () => {
  const text = (signed: Uint8Array) => Buffer.from(signed).toString('latin1')
  const body = Buffer.from('b{ts}$&{body}')

  it.each([
    ['{body}', 'b{ts}$&{body}'],
    ['{ts}.{body}', '7.b{ts}$&{body}'],
    ['$&{body}{body}', '$&b{ts}$&{body}b{ts}$&{body}'],
    ['v0:{ts}:{body}:{id}', 'v0:7:b{ts}$&{body}:{id}'],
    ['ä{ts}→{body}ö', '\u00c3\u00a47\u00e2\u0086\u0092b{ts}$&{body}\u00c3\u00b6'],
    ['{__proto__}{toString}{body}', '{__proto__}{toString}b{ts}$&{body}'],
  ])('%s', (signs, expected) => {
    expect(text(signedBytes(signs, { '{ts}': '7' }, body))).toBe(expected)
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

describe('DER', () => {
  const r = '11'.repeat(32)
  const der = (hex: string) => fromDer(bytes(Buffer.from(hex, 'hex')))

  it('r and s are padded to 32 bytes', () => {
    expect(toHex(der(`3008${'0202'}0102${'0202'}0304`)!.buffer)).toBe(`${'00'.repeat(30)}0102${'00'.repeat(30)}0304`)
    expect(toHex(der(`3046022100${'ff'.repeat(32)}022100${'ee'.repeat(32)}`)!.buffer)).toBe(
      'ff'.repeat(32) + 'ee'.repeat(32),
    )
  })

  it.each([
    ['bytes that follow', `30440220${r}0220${r}00`],
    ['a long form of the length', `3081440220${r}0220${r}`],
    ['a length that is too short', `30430220${r}0220${r}`],
    ['a superfluous zero', `3045022100${r}0220${r}`],
    ['a negative number', `30440220${'ff'.repeat(32)}0220${r}`],
    ['zero', `300602010002${'01'}01`],
    ['no number', '30060200020401020304'],
    ['33 bytes', `30450221${'01'}${r}0220${r}`],
    ['another tag', `31440220${r}0220${r}`],
    ['a third number', `30470220${r}0220${r}020101`],
    ['the raw form', r + r],
    ['nothing', ''],
  ])('not with %s', (_what, hex) => {
    expect(der(hex)).toBeUndefined()
  })
})
