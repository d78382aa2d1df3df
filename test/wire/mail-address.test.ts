import { describe, expect, it } from 'vitest'
import { isMailAddress, mailAddress } from '../../src/wire/mail-address.ts'

describe('an address', () => {
  it.each([
    ['Ada@Example.COM', 'ada@example.com'],
    [' ada@example.com\n', 'ada@example.com'],
    ['a+b@example.com', 'a+b@example.com'],
    ['a.b@example.com', 'a.b@example.com'],
    ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
    ['ada@BÜCHER.example', 'ada@xn--bcher-kva.example'],
  ])('%j is stored as %j', (text, stored) => {
    expect(mailAddress(text)).toBe(stored)
  })

  it('has 254 characters at most', () => {
    const of = (length: number) =>
      `a@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}.${'e'.repeat(length - 196)}.x`
    expect([of(254).length, isMailAddress(of(254)), mailAddress(of(254))]).toEqual([254, true, of(254)])
    expect([of(255).length, isMailAddress(of(255)), mailAddress(of(255))]).toEqual([255, false, undefined])
  })

  it.each([
    'ada',
    '@example.com',
    'ada@',
    'ada@localhost',
    'ada@127.0.0.1',
    'ada@[127.0.0.1]',
    'a b@example.com',
    '"a b"@example.com',
    'a..b@example.com',
    '.a@example.com',
    'ada@example..com',
    'ada@-example.com',
    'ada@example.com>\r\nRCPT TO:<evil@example.org',
    'ada@example.com\r\nBcc: evil@example.org',
    'ada@example.com,evil@example.org',
    'ada@evil.example@example.com',
    'аda@example.com', // a Cyrillic letter, which looks like the Latin one
    'ada\u0000@example.com',
    'ada@bo\u017fs.example',
    'ada@ｅxample.com',
    'ada@example。com',
    'ada@exam\u00adple.com\n.x',
  ])('%j is none', (text) => {
    expect(mailAddress(text)).toBeUndefined()
  })

  it('has 64 characters at most before the @', () => {
    const of = (length: number) => isMailAddress(`${'a'.repeat(length)}@example.com`)
    expect([of(64), of(65)]).toEqual([true, false])
  })

  it('with a lookalike domain is another address', () => {
    expect(mailAddress('ada@exаmple.com')).toBe('ada@xn--exmple-4nf.com') // a Cyrillic letter
  })
})
